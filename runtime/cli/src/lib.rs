//! Part of `toolwright`, without a public interface of its own: makes a command line of an application's tools.
#![warn(missing_docs)]

pub mod cli;
