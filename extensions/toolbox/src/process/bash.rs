//! `bash` runs a command line.
//!
//! # What it does
//! It runs the line by bash in the folder that the run is in, waits for it, and answers with its exit code and what it
//! printed, in the order of arrival and with the lines of standard error marked: of more than 30,000 bytes the beginning and
//! the end. The folder in which the line ends is the folder of the next line of the same run, as long as it is in the
//! workspace.
//!
//! There is no input and no terminal, and an environment of few variables. Everything that the line starts ends with it,
//! also what makes itself a daemon. When its time is up, or the call is cancelled or dropped, all of it gets TERM, and two
//! seconds later KILL.
//!
//! # What it may touch
//! Everything that the programs touch. Its danger is that of the worst part of the line; a line that is safe names the files
//! that it reads, any other may touch every file.
//!
//! # What it refuses
//! Lines with a NUL character.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::time::Duration;

use toolwright::{Class, Danger, ProcessOutput, ToolContext, ToolError, tool};

use super::environment::SWITCHED_OFF;
use super::executors::{ProcessEnd, ProcessRequest, Streams};
use super::run_command::is_no_program;
use super::shell::{SandboxedShell, Shell};
use super::supervisor::FOLDER;
use crate::Workspace;
use crate::shell::files_of;
use crate::workspace::Name;

/// Run a command line by bash in the workspace and wait for it. A change of the folder lasts until the next line. There is no
/// input and no terminal; what the line starts in the background ends with it. Of more than 30,000 bytes of output, the
/// beginning and the end are answered.
#[tool(
    unlinked, group = "command", effect = once, timeout = none,
    danger = shell.danger(&command),
    reads(file = files_of(&command, shell.table(), &place(shell, context)).0),
    writes(file = files_of(&command, shell.table(), &place(shell, context)).1)
)]
pub async fn bash(
    workspace: &Workspace,
    shell: &Shell,
    context: &ToolContext,
    /// The command line.
    #[arg(command, example = "git status --short && cargo test --quiet", positional)]
    command: String,
    /// After how many seconds it is ended.
    #[arg(default = 120, minimum = 1, maximum = 600)]
    timeout_seconds: u32,
) -> Result<ProcessOutput, ToolError> {
    run(workspace, shell, context, &command, timeout_seconds).await
}

/// Run a command line by bash in the workspace, in a sandbox without the network, and wait for it. A change of the folder
/// lasts until the next line. There is no input and no terminal; what the line starts in the background ends with it. Of
/// more than 30,000 bytes of output, the beginning and the end are answered.
#[tool(
    unlinked, name = "bash", handle = SANDBOXED_BASH, group = "command", tags("sandboxed"), effect = once, timeout = none,
    danger = shell.0.danger(&command).min(Danger::Moderate),
    reads(file = files_of(&command, shell.0.table(), &place(&shell.0, context)).0),
    writes(file = files_of(&command, shell.0.table(), &place(&shell.0, context)).1)
)]
pub async fn sandboxed_bash(
    workspace: &Workspace,
    shell: &SandboxedShell,
    context: &ToolContext,
    /// The command line.
    #[arg(command, example = "git status --short && cargo test --quiet", positional)]
    command: String,
    /// After how many seconds it is ended.
    #[arg(default = 120, minimum = 1, maximum = 600)]
    timeout_seconds: u32,
) -> Result<ProcessOutput, ToolError> {
    run(workspace, &shell.0, context, &command, timeout_seconds).await
}

/// The folder that a run is in.
fn place(shell: &Shell, context: &ToolContext) -> String {
    shell.folder(context.run_id().unwrap_or_default())
}

async fn run(
    workspace: &Workspace,
    shell: &Shell,
    context: &ToolContext,
    line: &str,
    seconds: u32,
) -> Result<ProcessOutput, ToolError> {
    if line.contains('\0') {
        return Err(ToolError::invalid(
            "the command line contains a NUL character, which no argument can",
        ));
    }
    let run = context.run_id().unwrap_or_default();
    let folder = match workspace.real_folder(&Name::parse(&shell.folder(run))?) {
        Ok(folder) => folder,
        // It was removed since.
        Err(_) => workspace.real_folder(&Name::parse(".")?)?,
    };
    // The line follows on a line of its own, so that nothing in it changes what stands before.
    // Where no descriptor comes with it, as in a container, nothing is written.
    let script = format!("trap '{{ pwd -P >&\"${FOLDER}\"; }} 2> /dev/null' EXIT\n{line}\n");
    let arguments: [OsString; 5] =
        ["bash".into(), "--noprofile".into(), "--norc".into(), "-c".into(), script.into()];
    let mut variables = shell.variables(workspace.root());
    if shell.danger(line) == Danger::Safe {
        variables.extend(SWITCHED_OFF.map(|(name, value)| (name.into(), value.into())));
    }
    let request = ProcessRequest::new(&arguments, workspace.root(), &folder)
        .variables(&variables)
        .limit(Duration::from_secs(seconds.into()))
        .streams(Streams::Marked)
        .supervised_by(&shell.supervisor);
    let started = shell.executor.start(&request).map_err(|error| not_started(error, &arguments))?;
    let ended = started.await.map_err(|error| not_started(error, &arguments))?;
    if let Some(inside) =
        ended.folder.as_deref().and_then(|it| it.strip_prefix(workspace.root()).ok())
    {
        let inside = inside.to_str().map(|it| if it.is_empty() { "." } else { it });
        // What the line says of its folder is as trustworthy as the line.
        let is_there =
            |it: &&str| Name::parse(it).and_then(|name| workspace.real_folder(&name)).is_ok();
        if let Some(inside) = inside.filter(is_there) {
            shell.moved(run, inside.to_owned());
        }
    }
    output(ended, seconds)
}

/// A finished command, as a result.
pub(super) fn output(ended: ProcessEnd, seconds: u32) -> Result<ProcessOutput, ToolError> {
    let output = ended.output;
    if ended.timed_out {
        let error = Some(format!("it took more than {seconds} seconds and was ended"));
        return Ok(ProcessOutput { output, error, timed_out: true, ..Default::default() });
    }
    let Some(status) = ended.status else {
        let message =
            "the process that supervises commands was ended, so how this one ended is not known";
        return Err(ToolError::new("process_lost", message).class(Class::Unknown));
    };
    let error = (!status.success()).then(|| status.to_string());
    Ok(ProcessOutput {
        success: status.success(),
        output,
        error,
        exit_code: status.code(),
        timed_out: false,
    })
}

pub(super) fn not_started(error: std::io::Error, vector: &[OsString]) -> ToolError {
    let program = vector.first().map_or_else(String::new, |it| it.to_string_lossy().into_owned());
    let program = program.rsplit('/').next().unwrap_or_default();
    let (kind, words) = match error.kind() {
        ErrorKind::NotFound => ("not_found", "no such program"),
        ErrorKind::PermissionDenied => ("permission_denied", "it may not be run"),
        ErrorKind::ArgumentListTooLong => ("too_long", "its arguments are too long"),
        _ if is_no_program(&error) => (
            "not_a_program",
            "it is no program that the system can run; a script needs a first line such as `#!/bin/sh`",
        ),
        _ => ("not_started", "the system refused to start it"),
    };
    ToolError::new(kind, format!("`{program}` was not started: {words}"))
        .class(Class::NotStarted { retry_after: None })
        .caused_by(error)
}
