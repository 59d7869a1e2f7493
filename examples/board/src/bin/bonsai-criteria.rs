//! Checks the acceptance criteria of a ticket against the files of a repository.
use std::process::ExitCode;

use board::executables::{self, criteria_check};

fn main() -> ExitCode {
    executables::main(criteria_check::command(), criteria_check::run)
}
