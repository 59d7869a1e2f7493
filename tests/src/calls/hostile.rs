//! What somebody tried who wanted to break the life of calls. `holds` are promises that were kept all along,
//! `broken` those that were not when the test was written.

mod broken;
mod holds;
pub mod tools;
