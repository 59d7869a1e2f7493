//! Models find deferred tools by the words of users.
//!
//! Needs what `tests/oracles/fetch` fetches; without it every test fails and says so.
#![cfg(test)]

mod recall;
