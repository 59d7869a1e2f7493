//! Runs git in one workspace: reads the repository, commits, makes branches, pushes, and manages worktrees.
use std::process::ExitCode;

use board::executables::{self, git_ops};

fn main() -> ExitCode {
    executables::main(git_ops::command(), git_ops::run)
}
