//! Part of `toolwright`, which has it behind the feature `conformance`: what every store of calls must do, as tests.
#![warn(missing_docs)]

pub mod conformance;
