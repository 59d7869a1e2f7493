//! Part of `toolwright`; use it through that crate. Makes definitions from types and foreign schemas, and repairs wrong
//! input according to its schema. Other crates use `jsonschema` only in their tests.
#![warn(missing_docs)]

#[doc(hidden)]
pub mod adapted;
pub mod foreign;
pub mod repair;
#[doc(hidden)]
pub mod schema;
