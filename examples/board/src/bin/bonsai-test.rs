//! Runs the test suite of a repository, and says how each case ended.
use std::process::ExitCode;

use board::executables::{self, test_runner};

fn main() -> ExitCode {
    executables::main(test_runner::command(), test_runner::run)
}
