//! The example as a person, a script and a client of its server see it.
#![cfg(test)]

// The tools themselves, to compare what their definitions say with what the program does.
#[path = "../../src"]
mod source {
    pub mod tools;
}

mod cli;
mod mcp;
mod policy;
