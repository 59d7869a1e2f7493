//! Black-box tests of the whole: what a user's program sees through the public interface.
#![cfg(test)]

mod messages;
mod scratch;
