//! Describes a repository: language, framework, package manager, test runner, structure.
use std::process::ExitCode;

use board::executables::{self, analyze};

fn main() -> ExitCode {
    executables::main(analyze::command(), analyze::run)
}
