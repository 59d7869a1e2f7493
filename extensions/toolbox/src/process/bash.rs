//! `bash` runs a command line.
//!
//! # What it does
//! It runs the line with bash in a folder of the workspace, waits for it, and answers with its exit code and its output, in the
//! order of arrival and with the lines of standard error marked. If the output has more than 30,000 bytes, only its
//! beginning and its end are shown.
//!
//! The line runs in the current folder of its run, unless `folder` names another. If a line changes its folder and ends
//! inside the workspace, the folder in which it ends becomes the current folder of the run. The folder is added to the
//! arguments when the call is made, so that a person approves a line together with its folder. If that folder is gone
//! when the line is to run, the line does not run.
//!
//! There is no input and no terminal, and only few environment variables. On Linux, every process that the line starts
//! ends with it, including daemons, unless the line kills or stops its supervisor; on other systems, only those in its
//! process group. When its time is up, or the call is cancelled or dropped, these processes get TERM, and KILL two
//! seconds later.
//!
//! # What it may touch
//! Everything that the programs touch. The danger of a call is that of the most dangerous part of its line. The
//! footprint of a safe line has the files that it reads; that of any other line has every file. Every line declares a
//! read of the run's current folder, and a line that may change it declares a write.
//!
//! # What it refuses
//! Lines with a NUL character; folders that do not exist, or are reached by a link. Outside of a [`SandboxedShell`], a
//! line rated safe is refused if settings in the folder name a program that the line would start, or if it would read
//! files with secrets. With `outside`, a person decides about such a line instead.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toolwright::{Danger, ErrorClass, ProcessOutput, ToolContext, ToolError, tool};

use super::environment::SWITCHED_OFF;
use super::executors::{NotStarted, ProcessEnd, ProcessRequest, Streams, ToolExecutor};
use super::folders::RunFolder;
use super::look;
use super::run_command::is_no_program;
use super::script::script;
use super::shell::{SandboxedShell, Shell, run_of};
use super::transcript::MARK;
use crate::Workspace;
use crate::shell::{Look, files_of};
use crate::workspace::Name;

/// Run a command line by bash in the workspace and wait for it. A change of the folder lasts until the next line. There is no
/// input and no terminal; what the line starts in the background ends with it. Of more than 30,000 bytes of output, the
/// beginning and the end are answered.
#[tool(
    unlinked, group = "command", effect = once, timeout = none,
    danger = shell.danger(&command, folder.as_deref(), outside),
    approval = shell.approval(&command, folder.as_deref(), outside),
    reads(file = touched_files(shell, &command, folder.as_deref()).0, RunFolder = run_of(context)),
    writes(file = touched_files(shell, &command, folder.as_deref()).1, RunFolder = moved_runs(shell, &command, folder.as_deref(), context))
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
    /// The folder that it runs in; the one that the last line ended in unless given.
    #[arg(fill = shell.folder(context), example = Some("src".to_owned()))]
    folder: Option<String>,
    /// Whether it runs outside of the sandbox in which it failed, or although it was not run; a person is asked.
    #[arg(default = false)]
    outside: bool,
) -> Result<ProcessOutput, ToolError> {
    let line = Line {
        command: &command,
        seconds: timeout_seconds,
        folder: folder.as_deref(),
        outside,
        is_held: false,
    };
    line.run(workspace, shell, context).await
}

/// Run a command line by bash in the workspace, in a sandbox without the network, and wait for it. A change of the folder
/// lasts until the next line. There is no input and no terminal; what the line starts in the background ends with it. Of
/// more than 30,000 bytes of output, the beginning and the end are answered.
#[tool(
    unlinked, name = "bash", handle = SANDBOXED_BASH, group = "command", tags("sandboxed"), effect = once, timeout = none,
    danger = shell.0.danger(&command, folder.as_deref(), false).min(Danger::Moderate),
    reads(file = touched_files(&shell.0, &command, folder.as_deref()).0, RunFolder = run_of(context)),
    writes(file = touched_files(&shell.0, &command, folder.as_deref()).1, RunFolder = moved_runs(&shell.0, &command, folder.as_deref(), context))
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
    /// The folder that it runs in; the one that the last line ended in unless given.
    #[arg(fill = shell.0.folder(context), example = Some("src".to_owned()))]
    folder: Option<String>,
) -> Result<ProcessOutput, ToolError> {
    let (seconds, folder) = (timeout_seconds, folder.as_deref());
    let line = Line { command: &command, seconds, folder, outside: false, is_held: true };
    line.run(workspace, &shell.0, context).await
}

/// Returns the files that a line reads and writes if it begins in `folder`; all files if the folder is unknown.
fn touched_files(
    shell: &Shell,
    command: &str,
    folder: Option<&str>,
) -> (Vec<Option<String>>, Vec<Option<String>>) {
    match folder {
        Some(folder) => files_of(command, shell.table(), folder),
        None => (vec![None], vec![None]),
    }
}

/// Returns the run whose current folder the line may change, if any.
fn moved_runs(
    shell: &Shell,
    command: &str,
    folder: Option<&str>,
    context: &ToolContext,
) -> Vec<String> {
    shell.may_move(command, folder).then(|| run_of(context)).into_iter().collect()
}

/// A command line that is about to run.
struct Line<'a> {
    command: &'a str,
    seconds: u32,
    folder: Option<&'a str>,
    outside: bool,
    /// Whether every line runs in a sandbox, however dangerous it is.
    is_held: bool,
}

impl Line<'_> {
    async fn run(
        &self,
        workspace: &Workspace,
        shell: &Shell,
        context: &ToolContext,
    ) -> Result<ProcessOutput, ToolError> {
        if self.command.contains('\0') {
            return Err(ToolError::invalid(
                "the command line contains a NUL character, which no argument can",
            ));
        }
        let (name, folder) = self.folder(workspace, shell, context)?;
        let script = script(&workspace.root().to_string_lossy(), self.command);
        let arguments: [OsString; 5] =
            ["bash".into(), "--noprofile".into(), "--norc".into(), "-c".into(), script.into()];
        let mut variables = shell.variables(workspace.root());
        let judged = shell.judge(self.command, self.folder);
        let is_safe = shell.danger(self.command, self.folder, self.outside) == Danger::Safe;
        if is_safe {
            variables.extend(SWITCHED_OFF.map(|(name, value)| (name.into(), value.into())));
        }
        let request = ProcessRequest::new(&arguments, workspace.root(), &folder)
            .variables(&variables)
            .limit(Duration::from_secs(self.seconds.into()))
            .streams(Streams::Marked)
            .supervised_by(&shell.supervisor);
        let (executor, is_walled) = shell.place_of(is_safe);
        if is_safe && !self.is_held && !judged.looks().is_empty() {
            look(judged.looks(), executor, &request, workspace).await?;
        }
        let started = executor.start(&request).map_err(|error| not_started(error, &arguments))?;
        let mut ended = started.await.map_err(|error| not_ended(error, &arguments))?;
        let last = ended.folder.take();
        let mut made = output(ended, self.seconds)?;
        if is_walled && !made.success && !made.timed_out && has_errors(&made.output) {
            say(&mut made, WALLED);
        }
        let moved = last.filter(|_| shell.may_move(self.command, self.folder));
        if let Some(to) = moved.and_then(|it| name_inside(workspace, &it))
            && (to != name.as_str() || !is_there(workspace, shell, context))
            && let Err(error) = shell.move_to(context, to.clone())
        {
            say(
                &mut made,
                &format!(
                    "it ended in `{to}`, which could not be stored ({error}), so that the next line runs where it was"
                ),
            );
        }
        Ok(made)
    }

    /// Returns the folder in which the line runs: its name and its path.
    fn folder(
        &self,
        workspace: &Workspace,
        shell: &Shell,
        context: &ToolContext,
    ) -> Result<(Name, PathBuf), ToolError> {
        let folder = match self.folder {
            Some(folder) => folder.to_owned(),
            None => shell.folder_of(context).map_err(|error| {
                let message = format!(
                    "the line was not run: the current folder of the run cannot be read: {error}"
                );
                ToolError::new("folder_unknown", message).hint("name the folder in `folder`")
            })?,
        };
        let name = Name::parse(&folder)?;
        let not_run = |why: &str| {
            let message = format!("the line was not run: its folder `{name}` {why}");
            ToolError::new("folder_gone", message)
                .class(ErrorClass::Invalid)
                .hint("name an existing folder in `folder`, such as `.` for the workspace")
        };
        let real = workspace.real_folder(&name).map_err(|error| match error.kind() {
            "not_found" => not_run("is not there any more"),
            "not_a_directory" => not_run("is a file"),
            _ => error,
        })?;
        // A link that was created after the rating would lead to a folder that was not rated.
        match real.strip_prefix(workspace.root()) {
            Ok(inside) if is_it(&name, inside) => Ok((name, real)),
            _ => Err(not_run("is reached by a link; name the folder that it leads to")),
        }
    }
}

/// Checks the assumptions about the folder under which a line was rated safe.
///
/// # Errors
/// When a check fails or cannot be made, so that the line must not run.
async fn look(
    looks: &[Look],
    executor: &dyn ToolExecutor,
    line: &ProcessRequest<'_>,
    workspace: &Workspace,
) -> Result<(), ToolError> {
    let script = look::script(looks).into();
    let arguments: [OsString; 5] =
        ["bash".into(), "--noprofile".into(), "--norc".into(), "-c".into(), script];
    let (arguments, folder) = (&arguments[..], workspace.root());
    let request = ProcessRequest { arguments, folder, streams: Streams::Apart, ..line.clone() };
    let started = executor.start(&request).map_err(|error| not_started(error, arguments))?;
    let ended = started.await.map_err(|error| not_started(error, arguments))?;
    let found = if ended.timed_out {
        Some("what it would read and run could not be checked in time".to_owned())
    } else if !ended.status.is_some_and(|it| it.success()) {
        let words = if ended.errors.is_empty() { &ended.output } else { &ended.errors };
        Some(format!("what it would read and run could not be checked: {words:.300}"))
    } else {
        look::refusal(looks, &ended.output)
    };
    let Some(why) = found else { return Ok(()) };
    let message =
        format!("the line was not run: it is rated safe, but in this folder it is not: {why}");
    Err(ToolError::new("not_safe_here", message).class(ErrorClass::Invalid).hint(
        "write it differently, or repeat it with `outside` true, about which a person is asked",
    ))
}

/// The note that is added to the answer of a line that failed in the sandbox.
const WALLED: &str = "it ran in a sandbox, read-only and without the network, because it is rated safe; if that is why it failed, repeat it with `outside` true, about which a person is asked";

fn say(made: &mut ProcessOutput, words: &str) {
    let before = made.error.take();
    made.error = Some(before.map_or_else(|| words.to_owned(), |it| format!("{it}; {words}")));
}

/// Returns whether a program wrote to standard error. If not, its exit code may be a result rather than a failure, as
/// for `grep`.
fn has_errors(output: &str) -> bool {
    output.lines().any(|it| it.starts_with(MARK))
}

/// Returns whether a real path, relative to the workspace, is the same as the name. A real path contains no links. So
/// if both are the same, the name contains no link either.
fn is_it(name: &Name, inside: &Path) -> bool {
    let folder = if name.as_str() == "." { "" } else { name.as_str() };
    inside == Path::new(folder)
}

/// Returns the name of the folder in which a line ended; `None` if the folder is not in the workspace. The folder is
/// checked, because the line itself could have forged the report of it.
fn name_inside(workspace: &Workspace, path: &Path) -> Option<String> {
    let inside = path.strip_prefix(workspace.root()).ok()?.to_str()?;
    let name = Name::parse(if inside.is_empty() { "." } else { inside }).ok()?;
    let real = workspace.real_folder(&name).ok()?;
    (real == path).then(|| name.as_str().to_owned())
}

/// Returns whether the current folder of the run still exists.
fn is_there(workspace: &Workspace, shell: &Shell, context: &ToolContext) -> bool {
    let folder = shell.folder_of(context).ok();
    folder.and_then(|it| Name::parse(&it).ok()).is_some_and(|it| workspace.real_folder(&it).is_ok())
}

/// Makes the output of a finished command.
pub(super) fn output(ended: ProcessEnd, seconds: u32) -> Result<ProcessOutput, ToolError> {
    let output = ended.output;
    if ended.timed_out {
        let error = Some(format!("it took more than {seconds} seconds and was ended"));
        return Ok(ProcessOutput { output, error, timed_out: true, ..Default::default() });
    }
    let Some(status) = ended.status else {
        let message =
            "the process that supervises commands was ended, so how this one ended is not known";
        return Err(ToolError::new("process_lost", message).class(ErrorClass::Unknown));
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

/// Makes the error for a program that was started and whose end is not known, unless the error is [`NotStarted`].
pub(super) fn not_ended(error: std::io::Error, vector: &[OsString]) -> ToolError {
    match error.downcast::<NotStarted>() {
        Ok(NotStarted(error)) => not_started(error, vector),
        Err(error) => {
            let message = format!("`{}` was started, and how it ended is not known", shown(vector));
            ToolError::new("process_lost", message).class(ErrorClass::Unknown).caused_by(error)
        }
    }
}

/// Returns the name of the program of an argument vector.
fn shown(vector: &[OsString]) -> String {
    let program = vector.first().map_or_else(String::new, |it| it.to_string_lossy().into_owned());
    program.rsplit('/').next().unwrap_or_default().to_owned()
}

pub(super) fn not_started(error: std::io::Error, vector: &[OsString]) -> ToolError {
    let program = shown(vector);
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
        .class(ErrorClass::NotStarted { retry_after: None })
        .caused_by(error)
}
