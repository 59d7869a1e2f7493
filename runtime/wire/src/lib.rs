//! Part of `toolwright`, without a public interface of its own: the messages of model providers, and tools in the forms
//! that they accept. Pure; it opens no connection.
#![warn(missing_docs)]

pub mod dialect;
pub mod provider;
