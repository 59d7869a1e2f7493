//! Git for one workspace: looks, commits, branches, pushes, worktrees.
use std::process::ExitCode;

use board::executables::{self, git_ops};

fn main() -> ExitCode {
    executables::main(git_ops::command(), git_ops::run)
}
