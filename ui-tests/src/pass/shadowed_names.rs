// Nothing in scope can come between generated code and what it names.
#![deny(warnings)]
#![allow(dead_code, nonstandard_style, unused_imports, reason = "the names are the point")]

mod other {
    pub struct Option;
    pub struct Result;
    pub struct Box;
    pub struct Arc;
    pub struct Vec;
    pub trait Into {}
    pub trait Default {}
    pub trait Send {}
    pub trait Sync {}
    pub trait Clone {}
    pub trait Fn {}
    pub struct usize;
    pub fn Some() {}
    pub fn Ok() {}
    pub fn Err() {}
    pub const None: u8 = 0;
    pub mod std {}
    pub mod core {}
    pub mod toolwright {}
    pub mod tokio {}
    pub mod serde {}
}
use other::*;

type Text = ::std::string::String;

/// Copies.
#[::toolwright::tool(danger = moderate, writes(file = to))]
async fn copy(
    /// From where.
    #[arg(length = 1..=9, example = "a")]
    from: Text,
    /// To where.
    #[arg(default = "b")]
    to: Text,
    /// How often.
    #[arg(default = 1, minimum = 1)]
    times: u8,
) -> Text {
    ::std::format!("{from}{to}{times}")
}

pub(super) fn main() {
    let _ = ::toolwright::Registry::of([COPY]);
}
