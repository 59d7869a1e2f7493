//! A command line without a tool, as where the crate of the tools is a dependency and its `link!` is missing.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolwright::cli::main()
}
