//! Part of `toolwright`, without a public interface of its own: it makes definitions from types and foreign schemas,
//! and repairs wrong input along its schema. It is the only crate that uses `jsonschema`.
#![warn(missing_docs)]

#[doc(hidden)]
pub mod adapted;
pub mod foreign;
pub mod repair;
#[doc(hidden)]
pub mod schema;
