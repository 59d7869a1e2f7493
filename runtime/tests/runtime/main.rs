//! What the runtime promises, part by part, through its public interface.
#![cfg(test)]

mod adaptation;
mod allocated;
mod approval;
mod arguments;
mod foreign;
mod journal;
mod policy;
mod reader;
mod repair;
mod retry;
mod stores;
