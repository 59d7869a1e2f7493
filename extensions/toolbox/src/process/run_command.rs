//! `run_command` runs one program with its arguments.
//!
//! # What it does
//! It runs the program in a folder of the workspace, waits for it, and answers with its exit code and its output, in the order
//! of arrival. Of more than 30,000 bytes, the beginning and the end are shown, and how much was left out. There is no shell: no
//! pipes, no variables, no `&&`.
//!
//! The program has no input and no terminal, and only few environment variables: no keys, no tokens. It has its own session and
//! process group. When its time is up, or the call is cancelled or dropped, the group gets TERM, and KILL two seconds later.
//! Processes that a program leaves in its group when it ends are killed as well.
//!
//! # What it may touch
//! Everything that the program touches, which is not known beforehand; a policy decides by program and arguments. A program
//! that creates its own session leaves the group, and is not ended with it.
//!
//! # What it refuses
//! Programs named by a path, because an agent can write files; programs that do not exist; arguments with a NUL character;
//! folders that lead out of the workspace.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::time::Duration;

use toolwright::{ErrorClass, ProcessOutput, ToolError, tool};

use super::environment::variables;
use super::executors::ProcessRequest;
use crate::Workspace;
use crate::workspace::Name;

/// Run a program in the workspace and wait for it. There is no shell: no pipes, no variables, no `&&`. Of more than 30,000
/// bytes of output, the beginning and the end are answered.
#[tool(unlinked, group = "command", danger = dangerous, effect = once, timeout = none)]
pub async fn run_command(
    workspace: &Workspace,
    /// The program by its name, without a folder.
    #[arg(example = "cargo", positional)]
    program: String,
    /// Its arguments, each an item. Nothing in them is split or replaced.
    #[arg(default, positional)]
    args: Vec<String>,
    /// Folder to run it in, relative to the workspace; the workspace itself when absent.
    #[arg(default = ".")]
    folder: String,
    /// After how many seconds it is ended.
    #[arg(default = 120, minimum = 1, maximum = 600)]
    timeout_seconds: u32,
) -> Result<ProcessOutput, ToolError> {
    is_name(&program)?;
    if let Some(index) = args.iter().position(|argument| argument.contains('\0')) {
        let message =
            format!("item {index} of `args` contains a NUL character, which no argument can");
        return Err(ToolError::invalid(message));
    }
    let folder = workspace.real_folder(&Name::parse(&folder)?)?;
    let variables = variables(workspace.root());
    let arguments: Vec<OsString> = std::iter::once(&program).chain(&args).map(Into::into).collect();
    let request = ProcessRequest::new(&arguments, workspace.root(), &folder)
        .variables(&variables)
        .limit(Duration::from_secs(timeout_seconds.into()));
    let ended =
        workspace.processes().start(&request).map_err(|error| not_started(&program, error))?;
    let ended = ended.await.map_err(|error| {
        let message = format!("`{program}` was started, and how it ended is not known");
        ToolError::new("process_lost", message).class(ErrorClass::Unknown).caused_by(error)
    })?;
    let output = ended.output;
    if ended.timed_out {
        let error = Some(format!("it took more than {timeout_seconds} seconds and was ended"));
        return Ok(ProcessOutput { output, error, timed_out: true, ..Default::default() });
    }
    let Some(status) = ended.status else {
        let message = format!("`{program}` was started, and how it ended is not known");
        return Err(ToolError::new("process_lost", message).class(ErrorClass::Unknown));
    };
    let error = (!status.success()).then(|| status.to_string());
    let (success, exit_code) = (status.success(), status.code());
    Ok(ProcessOutput { success, output, error, exit_code, timed_out: false })
}

fn is_name(program: &str) -> Result<(), ToolError> {
    let problem = if program.is_empty() {
        "is empty"
    } else if program.contains(['/', '\\']) {
        "is a path"
    } else if program.contains('\0') {
        "contains a NUL character"
    } else {
        return Ok(());
    };
    let message = format!(
        "`program` {problem}: `{}`, expected the name of a program",
        program.escape_debug()
    );
    Err(ToolError::invalid(message).hint("name it without its folder, such as `cargo`"))
}

fn not_started(program: &str, error: std::io::Error) -> ToolError {
    let (kind, words) = match error.kind() {
        ErrorKind::NotFound => ("not_found", "no such program on the search path"),
        ErrorKind::PermissionDenied => ("permission_denied", "it may not be run"),
        ErrorKind::ArgumentListTooLong => ("invalid_input", "its arguments are too long"),
        _ if is_no_program(&error) => (
            "not_a_program",
            "it is no program that the system can run; a script needs a first line such as `#!/bin/sh`",
        ),
        _ => ("not_started", "it could not be started"),
    };
    ToolError::new(kind, format!("`{program}`: {words}"))
        .class(ErrorClass::NotStarted { retry_after: None })
        .caused_by(error)
}

/// Returns whether the error says that a file is neither a program nor a script whose first line names one (`ENOEXEC`).
pub(super) fn is_no_program(error: &std::io::Error) -> bool {
    cfg!(unix) && error.raw_os_error() == Some(8)
}
