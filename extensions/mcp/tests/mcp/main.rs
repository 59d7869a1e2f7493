//! The protocol in use: real clients and servers, over streams in memory and over the pipes of real processes.
#![cfg(test)]

mod client;
mod durable;
mod http;
mod server;
mod stdio;
mod support;
