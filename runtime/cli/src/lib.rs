//! Part of `toolwright`, without a public interface of its own: a command line made of tools, and the approver that
//! asks the person at the terminal.
#![warn(missing_docs)]

pub mod cli;
pub mod terminal;
