//! Part of `toolwright`, without a public interface of its own: a command line made of tools.
#![warn(missing_docs)]

pub mod cli;
