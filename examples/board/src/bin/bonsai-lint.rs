//! Runs the linter of a repository, and says what it found.
use std::process::ExitCode;

use board::executables::{self, lint_runner};

fn main() -> ExitCode {
    executables::main(lint_runner::command(), lint_runner::run)
}
