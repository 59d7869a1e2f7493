//! The agent as its users see it: what the model is asked, what runs, how a run ends, and what its history is then.
#![cfg(test)]

mod background;
mod cancelling;
mod ceilings;
mod deciding;
mod delegate;
mod durable;
mod early;
mod ends;
mod events;
mod external;
mod foreign;
mod forks;
mod front;
mod guards;
mod guidance;
mod hand_off;
mod invariant;
mod kit;
mod limits;
mod plugins;
mod results;
mod review;
mod rewind;
mod rounds;
mod search;
mod settings;
mod spans;
mod steering;
mod stored;
mod support;
mod typed;
mod window;
