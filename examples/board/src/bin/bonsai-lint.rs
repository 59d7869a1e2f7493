//! Runs the linter of a repository and reports its findings.
use std::process::ExitCode;

use board::executables::{self, lint_runner};

fn main() -> ExitCode {
    executables::main(lint_runner::command(), lint_runner::run)
}
