//! What Toolwright sends to vendors is what the vendors take.
//!
//! Needs what `tests/oracles/fetch` fetches; without it every test fails and says so.
#![cfg(test)]

mod conversations;
mod documents;
mod real_functions;
mod recordings;
mod requests;
mod results;
mod rust_tools;
mod suite;
mod tools;
