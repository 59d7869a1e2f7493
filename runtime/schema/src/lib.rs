//! Part of `toolwright`, without a public interface of its own: from types and from foreign schemas to definitions, and
//! wrong input repaired along its schema. The only crate that uses `jsonschema`.
#![warn(missing_docs)]

pub mod foreign;
pub mod repair;
#[doc(hidden)]
pub mod schema;
