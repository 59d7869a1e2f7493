//! The life of a call: what holds in every state, what each check is for, and traces as they were.
#![cfg(test)]

mod guards;
mod holds;
mod lives;
mod stories;
