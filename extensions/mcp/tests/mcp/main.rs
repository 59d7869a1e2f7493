//! The protocol in use: real clients and servers, over streams in memory and over the pipes of real processes.
#![expect(clippy::unwrap_used, reason = "a test that finds nothing there has failed")]

mod server;
mod stdio;
mod support;
