//! Where programs run: every process tool starts them through the `ToolExecutor` that it is given, and through nothing else.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolwright::{Call, Danger, Effect, ErrorClass, Executor, ProcessOutput, Registry};
use toolwright_toolbox::{
    BASH, CliTool, Container, Local, ProcessEnd, ProcessRequest, RUN_COMMAND, RunningProcess,
    Sandbox, Shell, Streams, Supervisor, ToolExecutor, Workspace,
};

use crate::bash::{ends, folders, lives, supervisor, waited};
use crate::support::runtime;

/// An executor with `run_command`, `bash` and a wrapped executable, whose programs run where it is said.
pub fn tools(
    folder: &Path,
    program: &str,
    run_there: impl ToolExecutor + Clone + 'static,
) -> Executor {
    let workspace = Workspace::open(folder).unwrap().with_executor(run_there.clone());
    let workspace = Arc::new(workspace);
    let shell = Arc::new(Shell::new(supervisor()).with_executor(run_there));
    let schema = json!({
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Which."}},
        "additionalProperties": false,
    });
    let wrapped = CliTool::new("wrapped", "Says.", program, schema, Effect::Read, Danger::Safe);
    let wrapped = wrapped.positional("path").tool(Arc::clone(&workspace), Arc::clone(&shell));
    let registry = Registry::of([RUN_COMMAND, BASH]).unwrap();
    registry.register(wrapped).unwrap();
    let builder = Executor::builder(registry).unrestricted();
    builder.service_arc(workspace).service_arc(shell).build().unwrap()
}

pub fn output(executor: &Executor, tool: &str, input: Value) -> ProcessOutput {
    let answer = runtime().block_on(executor.call(&Call::new(tool, input.to_string().as_str())));
    assert!(!answer.is_error(), "{tool}: {}", answer.text());
    serde_json::from_str(&answer.text()).unwrap()
}

/// Starts nothing, and notes what it was to start.
#[derive(Debug, Clone, Default)]
struct Noted(Arc<Mutex<Vec<Note>>>);

#[derive(Debug, PartialEq)]
struct Note {
    arguments: Vec<OsString>,
    folder: PathBuf,
    seconds: u64,
    streams: Streams,
    is_supervised: bool,
}

impl ToolExecutor for Noted {
    fn start(&self, request: &ProcessRequest<'_>) -> io::Result<RunningProcess> {
        self.0.lock().unwrap().push(Note {
            arguments: request.arguments.to_vec(),
            folder: request.folder.to_owned(),
            seconds: request.limit.as_secs(),
            streams: request.streams,
            is_supervised: request.supervisor.is_some(),
        });
        let mut end = ProcessEnd::default();
        end.status = Some(ExitStatus::default());
        end.output = "from elsewhere".to_owned();
        Ok(Box::pin(async { Ok(end) }))
    }
}

/// `S4.24`: a tool gives program, arguments and options to the executor; tools that run programs start nothing themselves.
/// `S4.66`: a wrapped executable runs in the workspace, for at most a minute.
#[test]
fn tools_start_programs_through_their_executor_and_nothing_themselves() {
    let around = folders();
    let folder = around.path().join("inside");
    let noted = Noted::default();
    let executor = tools(&folder, "wrapped-program", noted.clone());
    let calls = [
        (
            "run_command",
            json!({"program": "touch", "args": ["made"], "folder": "sub", "timeout_seconds": 7}),
        ),
        ("bash", json!({"command": "touch made"})),
        ("wrapped", json!({"path": "made"})),
    ];
    for (tool, input) in calls {
        let ran = output(&executor, tool, input);
        assert_eq!((ran.success, ran.output.as_str()), (true, "from elsewhere"), "{tool}");
    }
    let root = folder.canonicalize().unwrap();
    let notes = noted.0.lock().unwrap();
    let [command, bash, wrapped] = &notes[..] else { panic!("{notes:?}") };
    let expected = Note {
        arguments: ["touch", "made"].map(OsString::from).to_vec(),
        folder: root.join("sub"),
        seconds: 7,
        streams: Streams::Mixed,
        is_supervised: false,
    };
    assert_eq!(*command, expected);
    assert_eq!((bash.folder.as_path(), bash.seconds), (root.as_path(), 120));
    assert_eq!((bash.streams, bash.is_supervised), (Streams::Marked, true));
    assert!(bash.arguments.last().unwrap().to_str().unwrap().contains("\ntouch made\n"));
    assert_eq!(wrapped.arguments, ["wrapped-program", "--", "made"]);
    assert_eq!((wrapped.folder.as_path(), wrapped.seconds), (root.as_path(), 60));
    assert_eq!((wrapped.streams, wrapped.is_supervised), (Streams::Apart, true));
    assert!(!root.join("made").exists() && !root.join("sub/made").exists());
    // No file of these tools names what starts processes.
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/process");
    for file in ["bash.rs", "cli_tool.rs", "run_command.rs", "shell.rs"] {
        let text = fs::read_to_string(sources.join(file)).unwrap();
        for word in ["Command::new", "process::Command", ".spawn(", "supervised::", "group::"] {
            assert!(!text.contains(word), "{file}: {word}");
        }
    }
}

/// Starts a program, and loses it.
#[derive(Debug, Clone)]
struct Losing;

impl ToolExecutor for Losing {
    fn start(&self, _: &ProcessRequest<'_>) -> io::Result<RunningProcess> {
        Ok(Box::pin(async { Err(io::Error::other("the connection to the machine broke")) }))
    }
}

#[test]
fn a_program_that_was_started_and_lost_may_have_run() {
    let around = folders();
    let executor = tools(&around.path().join("inside"), "wrapped-program", Losing);
    for (tool, input) in [("bash", json!({"command": "touch a"})), ("wrapped", json!({}))] {
        let input = input.to_string();
        let answer = runtime().block_on(executor.call(&Call::new(tool, input.as_str())));
        let error = answer.error().unwrap();
        assert_eq!((error.kind(), error.classified()), ("process_lost", ErrorClass::Unknown));
    }
}

#[test]
fn a_supervisor_that_does_not_report_is_ended_when_the_time_is_up() {
    let around = folders();
    let (folder, program) = (around.path().join("inside"), around.path().join("outside/server"));
    written(&program, &format!("#!/bin/sh\necho $$ > {}/pid\nexec sleep 300\n", folder.display()));
    let supervisor = Supervisor::program(&program);
    let arguments = ["/bin/true"].map(OsString::from);
    let request = ProcessRequest::new(&arguments, &folder, &folder).supervised_by(&supervisor);
    let request = request.limit(Duration::from_secs(2));
    let ended = runtime().block_on(async { Local.start(&request).unwrap().await });
    assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::TimedOut);
    assert!(ends(&waited(&folder.join("pid"))));
}

#[test]
fn the_arguments_of_an_engine_have_no_value_of_a_variable() {
    let arguments = ["true"].map(OsString::from);
    let variables = [(OsString::from("TOKEN"), OsString::from("s3cret"))];
    let root = Path::new("/work");
    let request = ProcessRequest::new(&arguments, root, root).variables(&variables);
    let vector = Container::new("docker", "c").arguments(&request);
    let expected = ["docker", "exec", "--workdir", "/workspace", "--env", "TOKEN", "c", "true"];
    assert_eq!(vector, expected);
}

fn written(path: &Path, script: &str) {
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Takes the arguments of `docker exec`, and runs the program in a folder that stands for the container.
const ENGINE: &str = r#"#!/bin/sh
[ "$1" = exec ] && [ "$2" = --workdir ] || exit 125
folder=$3; shift 3
while [ "$1" = --env ]; do export "$2"; shift 2; done
[ "$1" = build-1 ] || exit 125
shift
cd "INSIDE${folder#/site}" || exit 126
exec env -u TOOLWRIGHT_FOLDER "$@"
"#;

/// `S4.26`, `S4.3`: the same tools give the same answers here and in a container, which an engine stands for that takes the
/// arguments of `docker exec`.
/// `S4.74`: what runs there is the same program with the same arguments, and its output, errors and exit code come back.
#[test]
fn the_same_tools_run_here_and_in_a_container() {
    let around = folders();
    let folder = around.path().join("inside");
    let engine = around.path().join("outside/engine");
    written(&engine, &ENGINE.replace("INSIDE", folder.canonicalize().unwrap().to_str().unwrap()));
    let program = around.path().join("outside/program");
    written(&program, "#!/bin/sh\nprintf '{\"n\": %s}' \"$#\"; echo odd >&2; exit 4\n");
    let program = program.to_str().unwrap();
    let here = tools(&folder, program, Local);
    let there = tools(&folder, program, Container::new(&engine, "build-1").at("/site"));
    let calls = [
        (
            "run_command",
            json!({"program": "sh", "args": ["-c", "pwd; echo e >&2; exit 3"], "folder": "sub"}),
        ),
        ("run_command", json!({"program": "printf", "args": ["%s|", "a b", "$HOME", "--", ""]})),
        ("bash", json!({"command": "cd sub && pwd; echo $TERM; false"})),
        ("wrapped", json!({"path": "--all"})),
    ];
    for (tool, input) in calls {
        let mut own = output(&here, tool, input.clone());
        let mut others = output(&there, tool, input);
        // The two streams of a program have an order of arrival, which may differ.
        for ran in [&mut own, &mut others] {
            let mut lines: Vec<&str> = ran.output.lines().collect();
            lines.sort_unstable();
            ran.output = lines.join("\n");
        }
        assert_eq!(own, others, "{tool}");
        assert!(!own.output.is_empty());
    }
}

/// `S4.23`: what the tool starts, a person can start at a terminal, with the same arguments and the same result.
#[test]
fn a_wrapped_executable_gives_at_a_terminal_what_its_tool_answers() {
    let around = folders();
    let program = around.path().join("outside/program");
    written(&program, "#!/bin/sh\nprintf '{\"arguments\": \"%s\"}' \"$*\"; echo odd >&2; exit 4\n");
    let input = json!({"path": "--all"});
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let wrapped = CliTool::new("wrapped", "Says.", &program, schema, Effect::Read, Danger::Safe)
        .positional("path");
    let mut terminal = std::process::Command::new(&program);
    let typed = terminal.args(wrapped.build_args(&input).unwrap()).output().unwrap();
    let executor = tools(&around.path().join("inside"), program.to_str().unwrap(), Local);
    let called = output(&executor, "wrapped", input);
    assert_eq!(called.output.as_bytes(), typed.stdout);
    assert_eq!(called.output, r#"{"arguments": "-- --all"}"#);
    assert_eq!((called.exit_code, typed.status.code()), (Some(4), Some(4)));
    assert!(called.error.unwrap().ends_with(String::from_utf8(typed.stderr).unwrap().trim()));
}

#[test]
fn a_process_that_is_dropped_ends_with_all_that_it_started() {
    let around = folders();
    let folder = around.path().join("inside");
    let supervisor = supervisor();
    for supervised in [false, true] {
        let file = folder.join(format!("pid-{supervised}"));
        let far = if supervised { "setsid " } else { "" };
        let line = format!("{far}sleep 300 & echo $! > {}; sleep 300; true", file.display());
        let arguments = ["/bin/sh", "-c", &line].map(OsString::from);
        let mut request = ProcessRequest::new(&arguments, &folder, &folder);
        request.supervisor = supervised.then_some(&supervisor);
        let _within = runtime().enter();
        let running = Local.start(&request).unwrap();
        let child = waited(&file);
        assert!(lives(&child));
        drop(running);
        assert!(ends(&child), "supervised: {supervised}");
    }
}

/// `S4.25`: an executable is replaced by another version of itself, and the application that wraps it stays as it is.
#[test]
fn an_executable_is_replaced_without_a_change_to_its_tool() {
    let around = folders();
    let program = around.path().join("outside/program");
    let executor = tools(&around.path().join("inside"), program.to_str().unwrap(), Local);
    for version in ["1.0", "2.0"] {
        written(&program, &format!("#!/bin/sh\nprintf '\"{version} %s\"' \"$2\"\n"));
        assert_eq!(
            output(&executor, "wrapped", json!({"path": "a"})).output,
            format!("\"{version} a\"")
        );
    }
}

#[test]
fn what_is_to_be_hidden_and_is_not_there_starts_no_program() {
    let around = folders();
    let sandbox = match Sandbox::bubblewrap() {
        Ok(sandbox) => sandbox.hide(around.path().join("a-journal-that-is-not-there")),
        Err(error) => return println!("skipped: {error}"),
    };
    let executor = tools(&around.path().join("inside"), "true", sandbox);
    let input = json!({"program": "touch", "args": ["made"]}).to_string();
    let call = Call::new("run_command", input.as_str());
    let answer = runtime().block_on(executor.call(&call));
    assert_eq!(answer.error().unwrap().kind(), "not_started");
    assert!(!around.path().join("inside/made").exists());
}

/// The application's state lies above the workspace; what is hidden of it does not hide the workspace.
#[test]
fn a_workspace_within_a_hidden_folder_is_there() {
    let around = folders();
    let sandbox = match Sandbox::bubblewrap() {
        Ok(sandbox) => sandbox.hide(around.path()),
        Err(error) => return println!("skipped: {error}"),
    };
    let executor = tools(&around.path().join("inside"), "true", sandbox);
    let ran = output(&executor, "bash", json!({"command": "ls; ls ..; echo x > made"}));
    assert_eq!(ran.output, "sub\ninside\n");
    assert_eq!(fs::read_to_string(around.path().join("inside/made")).unwrap(), "x\n");
    assert_eq!(fs::read_to_string(around.path().join("outside/file")).unwrap(), "outside");
}

/// A hook that an agent leaves would run later, outside of the sandbox.
#[test]
fn what_is_read_only_in_the_workspace_is_neither_written_nor_replaced() {
    let around = folders();
    let inside = around.path().join("inside");
    let sandbox = match Sandbox::bubblewrap() {
        Ok(sandbox) => sandbox.read_only(".git"),
        Err(error) => return println!("skipped: {error}"),
    };
    let line = "echo evil > .git/hooks/pre-commit; mv .git other; rm -rf .git; mkdir .git; echo x > made; ls .git/hooks";
    let start = |sandbox| {
        let executor = tools(&inside, "true", sandbox);
        let input = json!({"command": line}).to_string();
        runtime().block_on(executor.call(&Call::new("bash", input.as_str())))
    };
    // Not there, so that a program could make it.
    assert_eq!(start(sandbox.clone()).error().unwrap().kind(), "not_started");
    fs::create_dir_all(inside.join(".git/hooks")).unwrap();
    fs::write(inside.join(".git/hooks/sample"), "x").unwrap();
    let answer = start(sandbox.clone());
    assert!(answer.text().contains("sample"), "{}", answer.text());
    assert!(inside.join("made").exists() && !inside.join("other").exists());
    assert!(!inside.join(".git/hooks/pre-commit").exists());
    for name in ["sub/a", "..", ""] {
        let answer = start(sandbox.clone().read_only(name));
        assert_eq!(answer.error().unwrap().kind(), "not_started", "{name}");
    }
}
