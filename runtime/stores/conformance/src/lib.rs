//! Part of `toolwright`, behind its feature `conformance`: tests what every store of calls must do.
#![warn(missing_docs)]

pub mod conformance;
