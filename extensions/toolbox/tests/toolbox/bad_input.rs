//! What a model or a program may give that nothing can be done with: each has an answer, and costs little.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use serde_json::json;
use toolwright::{Answer, Call, Danger, ErrorClass, Executor, ProcessOutput, Registry};
use toolwright_toolbox::{
    BASH, Local, ProcessRequest, RUN_COMMAND, RunningProcess, Shell, ToolExecutor, Workspace,
};

use crate::bash::{folders, supervisor};
use crate::support::runtime;

fn executor(folder: &std::path::Path) -> Executor {
    let builder = Executor::builder(Registry::of([BASH]).unwrap()).unrestricted();
    let workspace = Workspace::open(folder).unwrap();
    builder.service(workspace).service(Shell::new(supervisor())).build().unwrap()
}

fn bash(executor: &Executor, line: &str) -> Answer {
    let input = json!({"command": line, "timeout_seconds": 300}).to_string();
    runtime().block_on(executor.call(&Call::new("bash", input.as_str())))
}

fn ran(executor: &Executor, line: &str) -> ProcessOutput {
    let answer = bash(executor, line);
    assert!(!answer.is_error(), "{}", answer.text());
    serde_json::from_str(&answer.text()).unwrap()
}

#[test]
fn a_line_of_a_megabyte_is_dangerous_and_not_started() {
    let around = folders();
    let executor = executor(&around.path().join("inside"));
    let line = format!("touch made; : {}", "x".repeat(1 << 20));
    let input = json!({ "command": line }).to_string();
    let danger = executor.examine(&Call::new("bash", input.as_str())).unwrap().danger;
    assert_eq!(danger, Danger::Dangerous);
    let answer = bash(&executor, &line);
    let error = answer.error().unwrap();
    assert_eq!(error.kind(), "too_long");
    assert!(matches!(error.classified(), ErrorClass::NotStarted { .. }));
    assert!(!around.path().join("inside/made").exists());
}

#[test]
fn ten_thousand_levels_are_dangerous_before_anything_runs() {
    let around = folders();
    let executor = executor(&around.path().join("inside"));
    let line = format!("{}ls{}", "$(".repeat(10_000), ")".repeat(10_000));
    let input = json!({ "command": line }).to_string();
    let facts = executor.examine(&Call::new("bash", input.as_str())).unwrap();
    assert_eq!(facts.danger, Danger::Dangerous);
}

#[test]
fn a_line_that_is_no_line_has_an_answer() {
    let around = folders();
    let executor = executor(&around.path().join("inside"));
    assert_eq!(bash(&executor, "echo a\0b").error().unwrap().kind(), "invalid_input");
    let unclosed = ran(&executor, "echo 'a");
    assert_eq!((unclosed.success, unclosed.exit_code), (false, Some(2)));
    assert_eq!(ran(&executor, "").output, "");
    // What is no UTF-8 is shown as far as it is.
    assert_eq!(ran(&executor, r"printf 'caf\351 \377\n'").output, "caf\u{fffd} \u{fffd}\n");
}

/// The peak of this process's memory, in KiB.
#[cfg(target_os = "linux")]
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Other tests run in this process, and need less.
#[cfg(target_os = "linux")]
#[test]
fn gigabytes_of_output_cost_no_memory() {
    let around = folders();
    let ran = ran(&executor(&around.path().join("inside")), "yes | head -c 3000000000; echo end");
    assert!(ran.success && ran.output.ends_with("y\nend\n"), "{ran:?}");
    assert!(ran.output.starts_with("y\ny\n") && ran.output.len() < 31_000);
    let (_, rest) = ran.output.split_once("[… ").unwrap();
    let left_out: u64 = rest.split_once(" bytes").unwrap().0.parse().unwrap();
    assert!(left_out > 2_999_960_000, "{left_out}");
    assert!(peak() < 1_500_000, "{} KiB", peak());
}

#[test]
fn a_program_that_is_missing_or_is_none_has_its_reason_in_a_line_and_by_itself() {
    let around = folders();
    let folder = around.path().join("inside");
    let executor = executor(&folder);
    fs::write(folder.join("none"), "echo by the shell\n").unwrap();
    let missing = ran(&executor, "./missing");
    assert_eq!((missing.success, missing.exit_code), (false, Some(127)));
    let start = |name: &str| {
        let arguments = [OsString::from(folder.join(name))];
        let request = ProcessRequest::new(&arguments, &folder, &folder);
        let kind = |error: io::Error| (error.kind(), error.raw_os_error());
        runtime().block_on(async { Local.start(&request).map(|_| ()).map_err(kind) })
    };
    assert_eq!(start("missing"), Err((ErrorKind::NotFound, Some(2))));
    let refused = ran(&executor, "./none");
    assert_eq!((refused.success, refused.exit_code), (false, Some(126)));
    assert_eq!(start("none"), Err((ErrorKind::PermissionDenied, Some(13))));
    fs::set_permissions(folder.join("none"), fs::Permissions::from_mode(0o755)).unwrap();
    // Bash runs a script without a first line by itself.
    assert_eq!(ran(&executor, "./none").output, "by the shell\n");
}

/// Starts nothing, for the reason that the system gives by this number.
#[derive(Debug)]
struct Refusing(i32);

impl ToolExecutor for Refusing {
    fn start(&self, _: &ProcessRequest<'_>) -> io::Result<RunningProcess> {
        Err(io::Error::from_raw_os_error(self.0))
    }
}

#[test]
fn a_program_that_is_not_started_is_an_error_with_its_reason_and_may_be_called_again() {
    let around = folders();
    for (number, kind, words) in [
        (2, "not_found", "no such program"),
        (7, "invalid_input", "its arguments are too long"),
        (8, "not_a_program", "a first line such as `#!/bin/sh`"),
        (13, "permission_denied", "it may not be run"),
        (11, "not_started", "could not be started"),
    ] {
        let workspace = Workspace::open(around.path().join("inside")).unwrap();
        let workspace = Arc::new(workspace.with_executor(Refusing(number)));
        let builder = Executor::builder(Registry::of([RUN_COMMAND]).unwrap()).unrestricted();
        let executor = builder.service_arc(workspace).build().unwrap();
        let call = Call::new("run_command", r#"{"program":"ls"}"#);
        let answer = runtime().block_on(executor.call(&call));
        let error = answer.error().unwrap();
        assert_eq!(error.kind(), kind);
        assert!(error.message().contains(words), "{}", error.message());
        assert!(matches!(error.classified(), ErrorClass::NotStarted { .. }), "{kind}");
    }
}
