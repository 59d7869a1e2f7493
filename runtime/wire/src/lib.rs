//! Part of `toolwright`; use it through that crate. Reads and writes the messages of model providers, and describes
//! tools in the forms that providers accept. It opens no connection.
#![warn(missing_docs)]

pub mod dialect;
pub mod provider;
