//! Black-box tests of the whole: what a user's program sees through the public interface.
#![cfg(test)]

mod answers;
mod approval;
mod blocking;
mod building;
mod context;
mod coverage;
mod crates;
mod danger;
mod definitions;
mod dialects;
mod drain;
mod errors;
mod fixtures;
mod footprints;
mod functions;
mod hostile;
mod input;
mod limits;
mod listeners;
mod lookup;
mod messages;
mod methods;
mod middleware;
mod one_answer;
mod panics;
mod processes;
mod registration;
mod resources;
mod services;
mod shapes;
mod spans;
mod support;
mod timeouts;
mod types;
mod whole_input;
