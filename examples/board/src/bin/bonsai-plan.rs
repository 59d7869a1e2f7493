//! Makes the skeleton of a plan for a ticket.
use std::process::ExitCode;

use board::executables::{self, plan};

fn main() -> ExitCode {
    executables::main(plan::command(), plan::run)
}
