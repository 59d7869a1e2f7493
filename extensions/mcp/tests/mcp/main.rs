//! The protocol in use: real clients and servers, over streams in memory and over the pipes of real processes.
#![cfg(test)]

mod answers;
mod bad_days;
mod catalogs;
mod client;
mod durable;
mod exec;
mod http;
mod mounted;
mod oauth;
mod offered;
mod offers;
mod rounds;
mod server;
mod stdio;
mod subscriptions;
mod support;
mod tasks;
mod traces;
mod waiting;
