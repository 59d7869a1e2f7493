//! Makes the skeleton of a plan of a ticket.
use std::process::ExitCode;

use board::executables::{self, plan};

fn main() -> ExitCode {
    executables::main(plan::command(), plan::run)
}
