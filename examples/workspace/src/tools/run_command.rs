//! `run_command` runs one program with its arguments in the workspace, as the tool of the toolbox does. The executor
//! does not know which files the program touches, so the policy decides by program and arguments. The program gets few
//! environment variables, and neither input nor a terminal, so that it cannot ask a person. Its name has no path,
//! because an agent could have written a file at a path.

use toolwright::{ProcessOutput, ToolError, tool};
use toolwright_toolbox::Workspace;

/// Run a program in the workspace and wait for it. There is no shell: no pipes, no variables, no `&&`.
#[tool(group = "command", danger = dangerous, effect = once, timeout = none)]
pub async fn run_command(
    workspace: &Workspace,
    /// The program by its name, without a folder.
    #[arg(example = "cargo")]
    program: String,
    /// Its arguments, each an item. Nothing in them is split or replaced.
    #[arg(default)]
    args: Vec<String>,
    /// After how many seconds it is ended.
    #[arg(default = 120, minimum = 1, maximum = 3600)]
    seconds: u32,
) -> Result<ProcessOutput, ToolError> {
    toolwright_toolbox::run_command(workspace, program, args, ".".to_owned(), seconds).await
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_program_runs_in_the_workspace_until_its_time_is_up() {
        let workspace = Workspace::open(env!("CARGO_MANIFEST_DIR")).expect("it is there");
        let args = ["-c", "ls Cargo.toml; exec sleep 600"].map(str::to_owned).to_vec();
        let ran = run_command(&workspace, "sh".to_owned(), args, 1).await.expect("it began");
        assert!(ran.timed_out && !ran.success, "{ran:?}");
        assert_eq!(ran.output, "Cargo.toml\n");
    }
}
