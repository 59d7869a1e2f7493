//! What is promised, shown with real processes: the application is killed, people decide from another process, and an
//! agent tries to approve its own calls.
#![cfg(test)]
#![cfg(unix)]

// The tools themselves, for an application that has a shell beside them.
#[path = "../../src"]
mod source {
    pub mod carrier;
    pub mod ledger;
    pub mod pace;
    pub mod say;
    pub mod tools;
}

mod at_the_terminal;
mod deciding;
mod earlier;
mod hostile;
mod interrupted;
mod parcels;
mod shop;
mod toolwright;

use source::{carrier, ledger, pace, say};
