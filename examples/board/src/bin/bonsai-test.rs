//! Runs the test suite of a repository and reports the result of each case.
use std::process::ExitCode;

use board::executables::{self, test_runner};

fn main() -> ExitCode {
    executables::main(test_runner::command(), test_runner::run)
}
