//! One tool of five parameters under as many names as a measure wants.
//!
//! Only the name differs, so that a program of 1,000 tools compiles quickly. No contestant has an advantage by that:
//! none reuses one tool's schema for another of the same type, unless its own module says so.

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright::__private0::Spec;
use toolwright::{Handle, data, tool};

/// How much to show around a match.
#[data]
pub struct Window {
    /// Lines before the match.
    pub before: u32,
    /// Lines after the match.
    pub after: u32,
    /// What to call the window in the answer.
    pub label: String,
}

/// The same parameters as one struct, for a peer that registers no function.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is asked for")]
pub struct FindText {
    /// What to look for.
    pattern: String,
    /// How many matches to return.
    limit: usize,
    /// The folder to search; all when absent.
    folder: Option<String>,
    /// Match whole words only.
    whole_words: bool,
    /// How much to show around a match.
    window: Window,
}

/// Finds lines in files.
#[tool(crate = open)]
async fn find_text(
    /// What to look for.
    pattern: String,
    /// How many matches to return.
    limit: usize,
    /// The folder to search; all when absent.
    folder: Option<String>,
    /// Match whole words only.
    whole_words: bool,
    /// How much to show around a match.
    window: Window,
) -> String {
    let around = limit * (window.before + window.after + 1) as usize;
    format!("{pattern} {folder:?} {whole_words} {around} {}", window.label)
}

/// Returns different names.
pub fn names(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|number| format!("find_text_{number}"))
}

/// Returns the tool under each of its names.
pub fn handles(count: usize) -> Vec<Handle> {
    let named = names(count).map(|name| {
        let name = Box::leak(name.into_boxed_str());
        Handle::new(Box::leak(Box::new(Spec { name, ..*FIND_TEXT.0 })))
    });
    named.collect()
}

/// The runtime as `#[tool]` finds it, but with a handle whose description can be read.
mod open {
    pub use __private0::Handle;

    pub mod __private0 {
        pub use toolwright::__private0::*;

        pub struct Handle(pub &'static Spec);

        impl Handle {
            pub const fn new(spec: &'static Spec) -> Self {
                Self(spec)
            }
        }
    }
}
