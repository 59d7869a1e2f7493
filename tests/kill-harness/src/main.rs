//! `kill-harness --kills N`: tests the SQLite store.

use std::process::ExitCode;

fn main() -> ExitCode {
    kill_harness::main(&kill_harness::Sqlite)
}
