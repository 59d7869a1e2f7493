//! The tools of a coding agent as one bundle.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright::policy::{Mode, Policy, Rule};
use toolwright::{Answer, Call, Executor, ExecutorBuilder, Registry};
use toolwright_toolbox::CodingTools;

use crate::bash::{ends, folders, lives, waited};
use crate::support::runtime;

/// A folder that is worked in, and one beside it for the change log.
struct Here(TempDir);

impl Here {
    fn new() -> Self {
        let around = folders();
        fs::create_dir_all(around.path().join("inside")).unwrap();
        fs::write(around.path().join("inside/notes.md"), "tea\n").unwrap();
        Self(around)
    }

    fn inside(&self) -> PathBuf {
        self.0.path().join("inside")
    }

    fn tools(&self) -> CodingTools {
        CodingTools::open(self.inside()).unwrap().log(self.0.path().join("state/changes.db"))
    }
}

fn builder() -> ExecutorBuilder {
    Executor::builder(Registry::empty())
}

fn call(executor: &Executor, tool: &str, input: Value) -> Answer {
    let input = input.to_string();
    runtime().block_on(executor.call(&Call::new(tool, input.as_str())))
}

fn kind(answer: &Answer) -> Option<&str> {
    answer.error().map(|error| error.kind())
}

#[test]
fn one_line_brings_files_programs_lines_and_undo() {
    let here = Here::new();
    let executor = builder().with(here.tools()).build().unwrap();
    let names: Vec<String> = executor.catalog().names().map(str::to_owned).collect();
    for name in ["read_file", "apply_patch", "grep", "run_command", "bash", "undo_turn"] {
        assert!(names.iter().any(|it| it == name), "{names:?}");
    }
    assert!(call(&executor, "read_file", json!({"path": "notes.md"})).text().contains("tea"));
    let line = call(&executor, "bash", json!({"command": "cat notes.md | wc -l"}));
    assert!(!line.is_error() && line.text().contains('1'), "{}", line.text());
    for (tool, input) in [
        ("bash", json!({"command": "rm notes.md"})),
        ("write_file", json!({"path": "notes.md", "content": ""})),
        ("run_command", json!({"program": "true"})),
    ] {
        let answer = call(&executor, tool, input);
        assert_eq!(kind(&answer), Some("approval_required"), "{tool}: {}", answer.text());
    }
    assert_eq!(fs::read_to_string(here.inside().join("notes.md")).unwrap(), "tea\n");
}

#[test]
fn what_is_allowed_is_recorded_checked_and_undone() {
    let here = Here::new();
    let policy = Policy::builder().mode(Mode::AutoSafe);
    let executor = builder().policy(policy).with(here.tools()).build().unwrap();
    let broken = call(&executor, "write_file", json!({"path": "a.json", "content": "[1, 2"}));
    assert!(broken.text().contains("missing `]`"), "{}", broken.text());
    call(&executor, "write_file", json!({"path": "notes.md", "content": "coffee\n"}));
    let undone = call(&executor, "undo_file", json!({"path": "notes.md"}));
    assert!(!undone.is_error(), "{}", undone.text());
    assert_eq!(fs::read_to_string(here.inside().join("notes.md")).unwrap(), "tea\n");
}

#[test]
fn undo_is_allowed_until_the_application_says_otherwise() {
    let here = Here::new();
    let executor = builder().with(here.tools()).build().unwrap();
    let nothing = call(&executor, "undo_file", json!({"path": "notes.md"}));
    assert_ne!(kind(&nothing), Some("approval_required"), "{}", nothing.text());

    let here = Here::new();
    let rule = Rule::deny("a person does it").named("undo").tool("undo_file");
    let policy = Policy::builder().rule(rule);
    let executor = builder().policy(policy).with(here.tools()).build().unwrap();
    let denied = call(&executor, "undo_file", json!({"path": "notes.md"}));
    assert_eq!(kind(&denied), Some("denied"));
}

#[test]
fn nothing_outside_of_the_folder_is_read_by_a_line() {
    let here = Here::new();
    fs::write(here.0.path().join("beside.txt"), "secret").unwrap();
    let executor = builder().with(here.tools()).build().unwrap();
    let outside = call(&executor, "bash", json!({"command": "cat ../beside.txt"}));
    assert!(outside.is_error() && !outside.text().contains("secret"), "{}", outside.text());

    let beside = here.0.path().join("beside.txt");
    std::os::unix::fs::symlink(beside, here.inside().join("link")).unwrap();
    let linked = call(&executor, "bash", json!({"command": "cat link"}));
    assert!(linked.is_error() && !linked.text().contains("secret"), "{}", linked.text());
}

#[test]
fn a_cache_that_is_shared_answers_reads_of_other_executors() {
    let here = Here::new();
    let cache = toolwright_middleware::ReadCache::new();
    let [first, second] =
        [0, 1].map(|_| builder().with(here.tools().cache(&cache)).build().unwrap());
    // A file that was just changed is not cached.
    std::thread::sleep(std::time::Duration::from_millis(2200));
    for executor in [first, second] {
        call(&executor, "read_file", json!({"path": "notes.md"}));
    }
    assert_eq!((cache.statistics().hits, cache.statistics().misses), (1, 1));
}

#[test]
fn each_part_can_be_left_out() {
    let here = Here::new();
    let tools = here.tools().without_programs().without_shell().without_undo();
    assert_eq!(tools.missing_wall(), None);
    let executor = builder().with(tools).build().unwrap();
    for name in ["run_command", "bash", "undo_file", "undo_turn", "file_history"] {
        assert!(executor.catalog().get(name).is_none(), "{name}");
    }
    assert!(executor.catalog().get("edit_file").is_some());
}

#[test]
fn a_folder_that_is_none_and_a_log_within_reach_are_errors_that_say_what_to_do() {
    let here = Here::new();
    let error = CodingTools::open(here.0.path().join("gone")).unwrap_err();
    let words = error.to_string();
    assert!(
        words.contains("gone` cannot be worked in") && words == format!("{error:?}"),
        "{words}"
    );

    let within = here.tools().log(here.inside().join("changes.db"));
    let error = builder().with(within).build().unwrap_err().to_string();
    assert!(error.contains("`the change log` cannot be used: it lies in"), "{error}");
    assert!(error.contains("`CodingTools::log`"), "{error}");

    let error = builder().with(here.tools()).with(here.tools()).build().unwrap_err().to_string();
    assert!(error.contains("the bundle `coding tools` is given twice, at "), "{error}");
}

/// The example that notes each start of its `main`. It is built with the tests, but for a run of this test alone.
fn application(here: &Here) -> Command {
    let test = std::env::current_exe().unwrap();
    let target = test.parent().unwrap().parent().unwrap();
    let program = target.join("examples/command_lines");
    assert!(program.exists(), "build it with `cargo build --examples -p toolwright-toolbox`");
    let mut command = Command::new(program);
    command.current_dir(here.inside()).stdin(Stdio::null());
    command
}

fn starts(here: &Here) -> usize {
    fs::read_to_string(here.0.path().join("starts.txt")).unwrap_or_default().lines().count()
}

#[test]
fn a_supervisor_never_runs_the_main_of_its_application() {
    let here = Here::new();
    let lines: Vec<String> = (1..=10).map(|number| format!("echo line {number}")).collect();
    let output = application(&here).args(&lines).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    for line in 1..=10 {
        assert!(printed.contains(&format!("line {line}")), "{printed}");
    }
    assert_eq!(starts(&here), 1);
}

#[test]
fn what_a_line_started_ends_when_its_application_is_killed() {
    let here = Here::new();
    let line = "trap '' TERM HUP; echo $$ > own; (setsid sh -c 'echo $$ > daemon; exec sleep 300' &); sleep 300; true";
    let mut application = application(&here).arg(line).stdout(Stdio::null()).spawn().unwrap();
    let pids = ["own", "daemon"].map(|it| waited(&here.inside().join(it)));
    assert!(pids.iter().all(|it| lives(it)), "{pids:?}");
    application.kill().unwrap();
    application.wait().unwrap();
    for pid in pids {
        assert!(ends(&pid), "{pid} is still there");
    }
    assert_eq!(starts(&here), 1);
}
