//! The agent as its users see it: what the model is asked, what runs, how a run ends, and what its history is then.
#![cfg(test)]

mod cancelling;
mod deciding;
mod durable;
mod ends;
mod invariant;
mod limits;
mod rounds;
mod stored;
mod support;
