//! Tools that read, list, search and write the files of the folder it is started in.
//!
//! `workspace answer FILE…` answers the tool calls of captured provider messages;
//! `workspace file read README.md` runs one tool by hand.

mod tools;
mod workspace;

use std::process::ExitCode;

use workspace::Workspace;

fn main() -> ExitCode {
    let workspace = match Workspace::of_current_folder() {
        Ok(workspace) => workspace,
        Err(error) => {
            eprintln!("error: the current folder cannot be the workspace: {error}");
            return ExitCode::FAILURE;
        }
    };
    toolwright::cli::main_with(|builder| builder.unrestricted().service(workspace))
}
