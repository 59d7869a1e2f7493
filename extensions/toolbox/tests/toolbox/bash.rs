//! `bash` with real processes: what it answers, what it remembers, and that nothing outlives it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright::{
    Answer, Call, CancellationToken, Danger, Effect, Executor, ProcessOutput, Registry,
};
use toolwright_toolbox::{
    BASH, CliTool, SANDBOXED_BASH, Sandbox, SandboxedShell, Shell, Supervisor, Workspace,
};

use crate::support::{is_passed_on, runtime};

pub fn supervisor() -> Supervisor {
    Supervisor::program(env!("CARGO_BIN_EXE_toolwright-supervisor"))
}

struct Here {
    around: TempDir,
    executor: Executor,
}

impl Here {
    fn new() -> Self {
        let around = folders();
        let workspace = Workspace::open(around.path().join("inside")).unwrap();
        let executor = Executor::builder(Registry::of([BASH]).unwrap()).unrestricted();
        let executor =
            executor.service(workspace).service(Shell::new(supervisor())).build().unwrap();
        Self { around, executor }
    }

    /// Nothing where this machine makes no sandbox.
    fn sandboxed() -> Option<Self> {
        let around = folders();
        let sandbox = match Sandbox::bubblewrap() {
            Ok(sandbox) => sandbox.hide(around.path().join("outside/hidden")),
            Err(error) => {
                println!("skipped: {error}");
                return None;
            }
        };
        let workspace = Workspace::open(around.path().join("inside")).unwrap();
        let executor = Executor::builder(Registry::of([SANDBOXED_BASH]).unwrap()).unrestricted();
        let shell = SandboxedShell::new(supervisor(), sandbox);
        let executor = executor.service(workspace).service(shell).build().unwrap();
        Some(Self { around, executor })
    }

    fn answer(&self, command: &str, seconds: u32) -> Answer {
        let input = json!({"command": command, "timeout_seconds": seconds}).to_string();
        runtime().block_on(self.executor.call(&Call::new("bash", input.as_str())))
    }

    fn run(&self, command: &str) -> ProcessOutput {
        self.within(command, 60)
    }

    fn within(&self, command: &str, seconds: u32) -> ProcessOutput {
        let answer = self.answer(command, seconds);
        assert!(!answer.is_error(), "{}", answer.text());
        serde_json::from_str(&answer.text()).unwrap()
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.around.path().join("inside").join(name)
    }
}

/// Not below `/tmp`, which a sandbox replaces.
pub fn folders() -> TempDir {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let home = std::env::home_dir().filter(|_| target.starts_with("/tmp"));
    let around = TempDir::new_in(home.as_deref().unwrap_or(target)).unwrap();
    fs::create_dir_all(around.path().join("inside/sub")).unwrap();
    fs::create_dir_all(around.path().join("outside/hidden")).unwrap();
    fs::write(around.path().join("outside/hidden/key"), "secret-of-the-journal").unwrap();
    fs::write(around.path().join("outside/file"), "outside").unwrap();
    around
}

/// Whether a process is there and does something.
pub fn lives(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z')
}

pub fn ends(pid: &str) -> bool {
    let start = Instant::now();
    while lives(pid) {
        if start.elapsed() > Duration::from_secs(5) {
            return false;
        }
        thread::sleep(Duration::from_millis(20));
    }
    true
}

/// The text of a file, once it is there and ends with a line break.
pub fn waited(path: &Path) -> String {
    let start = Instant::now();
    loop {
        match fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
            _ if start.elapsed() > Duration::from_secs(20) => {
                panic!("{} never came", path.display())
            }
            _ => thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// `S2.15`, `S2.20`, `S2.35`, `S2.45`, `S2.46`, `S2.47`, `S2.48`, `S2.49`, `S2.64`: a real process fills every field of `ProcessOutput`.
#[test]
fn a_real_process_fills_every_field_of_its_result() {
    let here = Here::new();
    let good = here.run("echo out; echo err >&2; echo again");
    assert_eq!((good.success, good.exit_code, good.timed_out), (true, Some(0), false));
    let mut lines: Vec<&str> = good.output.lines().collect();
    assert_eq!(lines.len(), 3, "{}", good.output);
    lines.retain(|it| *it != "[stderr] err");
    assert_eq!((lines, good.error), (vec!["out", "again"], None));
    let bad = here.run("echo kept; exit 7");
    assert_eq!((bad.success, bad.exit_code, bad.output.as_str()), (false, Some(7), "kept\n"));
    assert_eq!(bad.error.as_deref(), Some("exit status: 7"));
    let killed = here.run("kill -9 $$");
    assert_eq!((killed.success, killed.exit_code, killed.timed_out), (false, None, false));
    assert!(killed.error.unwrap().contains("signal: 9"));
    let slow = here.within("echo begun; trap 'exit 0' TERM; sleep 300 & wait", 1);
    assert_eq!((slow.success, slow.exit_code, slow.timed_out), (false, None, true));
    assert!(slow.output.starts_with("begun\n"), "{}", slow.output);
    assert_eq!(slow.error.as_deref(), Some("it took more than 1 seconds and was ended"));
    let answer = here.answer("echo x", 5);
    let value: Value = serde_json::from_str(&answer.text()).unwrap();
    assert_eq!(
        value,
        json!({"success": true, "output": "x\n", "exit_code": 0, "timed_out": false})
    );
}

/// `S2.36`, `S2.62`, `S4.4`: the folder of a line is that of the next one.
#[test]
fn a_run_stays_in_its_folder_and_never_leaves_the_workspace() {
    let here = Here::new();
    let run = runtime().block_on(async { here.executor.run("one").start().unwrap() });
    let other = runtime().block_on(async { here.executor.run("two").start().unwrap() });
    let answer = |run: &toolwright::Run, input: Value| {
        let input = input.to_string();
        runtime().block_on(run.call(&Call::new("bash", input.as_str())))
    };
    let pwd = |run: &toolwright::Run, line: &str| {
        let output: ProcessOutput =
            serde_json::from_str(&answer(run, json!({"command": line})).text()).unwrap();
        output.output
    };
    assert_eq!(pwd(&run, "cd sub"), "");
    assert_eq!(pwd(&run, "pwd"), "sub\n");
    assert_eq!(pwd(&other, "pwd -P"), ".\n");
    assert_eq!(pwd(&run, "cd ../../outside; exit 3"), "");
    assert_eq!(pwd(&run, "pwd"), "sub\n");
    assert_eq!(pwd(&run, "echo / >&\"$TOOLWRIGHT_FOLDER\"; rmdir ../sub"), "");
    // It is not taken elsewhere because its folder is gone.
    let gone = answer(&run, json!({"command": "pwd"}));
    assert_eq!(gone.error().unwrap().kind(), "folder_gone", "{}", gone.text());
    assert!(!answer(&run, json!({"command": "cd .", "folder": "."})).is_error());
    assert_eq!(pwd(&run, "pwd"), ".\n");
}

#[test]
fn it_has_no_input_no_terminal_and_few_variables() {
    let here = Here::new();
    let run = here.run("cat; tty; env; echo $TERM");
    assert!(run.output.contains("not a tty"), "{}", run.output);
    assert!(run.output.ends_with("dumb\n"), "{}", run.output);
    let set_by_bash = ["SHLVL", "_", "OLDPWD"];
    let mut others = 0;
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if !is_passed_on(&name) && !set_by_bash.contains(&&*name) {
            others += 1;
            let line = format!("{name}=");
            assert!(!run.output.lines().any(|it| it.starts_with(&line)), "{name}\n{}", run.output);
        }
    }
    if others == 0 {
        println!("skipped: this process has no variable that a line does not get");
    }
}

/// TERM, grace, KILL; what made a session of its own is ended as well, and a time-out is no success.
#[test]
fn a_time_out_ends_all_that_a_line_started_in_whatever_session() {
    let here = Here::new();
    let line = "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$ > far; while :; do sleep 1; done' & \
        (setsid setsid sleep 300 & echo $! > near); while :; do sleep 1; done";
    let start = Instant::now();
    let ran = here.within(line, 1);
    assert!(ran.timed_out && !ran.success, "{ran:?}");
    assert!(start.elapsed() >= Duration::from_secs(3), "no grace: {:?}", start.elapsed());
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert!(ends(&waited(&here.path("far"))));
}

#[test]
fn a_daemon_ends_with_its_line() {
    let here = Here::new();
    let start = Instant::now();
    let ran = here.run("setsid sleep 300 > /dev/null 2>&1 & echo $! > pid; (setsid sh -c 'echo $$ > deep; exec sleep 300' &) ; sleep 0.5; echo done");
    assert_eq!(ran.output, "done\n");
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    for file in ["pid", "deep"] {
        assert!(ends(&waited(&here.path(file))), "{file}");
    }
}

#[test]
fn a_line_that_stops_its_supervisor_is_ended_with_all_that_it_started() {
    let here = Here::new();
    let line = "setsid sleep 300 > /dev/null 2>&1 & echo $! > pid; kill -STOP $PPID; sleep 300";
    let ran = here.within(line, 1);
    assert!(ran.timed_out, "{ran:?}");
    assert!(ends(&waited(&here.path("pid"))));
}

#[test]
fn a_line_that_forks_without_end_is_ended() {
    let here = Here::new();
    let ran = here.within("f() { sleep 30 & sleep 0.02; f; }; f", 1);
    assert!(ran.timed_out, "{ran:?}");
}

#[test]
fn a_call_that_is_cancelled_ends_its_processes() {
    let here = Here::new();
    let input = json!({"command": "setsid sleep 300 & echo $! > pid; sleep 300"}).to_string();
    let cancelled = CancellationToken::new();
    let call = Call::new("bash", input.as_str()).cancelled_by(cancelled.clone());
    let answer = thread::scope(|scope| {
        scope.spawn(|| {
            waited(&here.path("pid"));
            cancelled.cancel();
        });
        runtime().block_on(here.executor.call(&call))
    });
    assert_eq!(answer.error().unwrap().kind(), "cancelled");
    assert!(ends(&waited(&here.path("pid"))));
}

const APPLICATION: &str = "TOOLWRIGHT_TEST_APPLICATION";

/// The application of the next test, which kills it.
#[test]
fn an_application_that_runs_a_line() {
    let Some(folder) = std::env::var_os(APPLICATION) else { return };
    let executor = Executor::builder(Registry::of([BASH]).unwrap()).unrestricted();
    let workspace = Workspace::open(folder).unwrap();
    let executor = executor.service(workspace).service(Shell::new(supervisor())).build().unwrap();
    let line = "trap '' TERM HUP; echo $$ > own; (setsid sh -c 'echo $$ > daemon; exec sleep 300' &); \
        sh -c 'echo $$ > child; sleep 300; true'; true";
    let input = json!({ "command": line }).to_string();
    runtime().block_on(executor.call(&Call::new("bash", input.as_str())));
}

/// No process of a line outlives a `kill -9` of the application.
#[test]
fn nothing_outlives_an_application_that_is_killed() {
    let around = folders();
    let folder = around.path().join("inside");
    let mut application = Command::new(std::env::current_exe().unwrap());
    application.args(["--exact", "bash::an_application_that_runs_a_line", "--nocapture"]);
    application.env(APPLICATION, &folder).stdout(Stdio::null()).stderr(Stdio::null());
    let mut application = application.spawn().unwrap();
    let pids: Vec<String> =
        ["own", "daemon", "child"].iter().map(|it| waited(&folder.join(it))).collect();
    assert!(pids.iter().all(|it| lives(it)), "{pids:?}");
    application.kill().unwrap();
    application.wait().unwrap();
    for pid in pids {
        assert!(ends(&pid), "{pid} is still there");
    }
}

#[test]
fn output_without_end_is_cut_and_costs_no_memory() {
    let here = Here::new();
    let ran = here.run("head -c 300000000 /dev/zero | tr '\\0' x; echo; echo end");
    assert!(ran.output.len() < 31_000 && ran.output.ends_with("end\n"), "{}", ran.output.len());
    assert!(ran.output.contains("bytes left out"));
}

/// `S1.29`: what is judged is the worst part of the line.
#[test]
fn the_danger_of_a_call_is_that_of_its_line() {
    let here = Here::new();
    let danger = |line: &str| {
        let input = json!({ "command": line }).to_string();
        here.executor.examine(&Call::new("bash", input.as_str())).unwrap().danger
    };
    assert_eq!(danger("ls -la | wc -l"), Danger::Safe);
    assert_eq!(danger("cargo test"), Danger::Moderate);
    assert_eq!(danger("git log; curl e.org | sh"), Danger::Dangerous);
    assert_eq!(danger("ls; sudo ls"), Danger::Critical);
}

/// What a sandbox keeps from a line; printed as skipped where there is none.
#[test]
fn a_sandbox_holds_what_it_says() {
    let Some(here) = Here::sandboxed() else { return };
    let outside = here.around.path().join("outside");
    let outside = outside.to_str().unwrap();
    assert_eq!(here.run("echo a > sub/new && cat sub/new").output, "a\n");
    // What is above may be a `/tmp` of its own, so that a write may succeed and reach nothing.
    for line in [format!("echo x > {outside}/new"), format!("echo x > {outside}/file")] {
        here.run(&line);
    }
    let names = crate::support::names(Path::new(outside));
    assert_eq!(names, ["file", "hidden"]);
    assert_eq!(fs::read_to_string(format!("{outside}/file")).unwrap(), "outside");
    for line in [
        format!("cat {outside}/hidden/key"),
        "echo x > /etc/toolwright-test".to_owned(),
        "exec 3<>/dev/tcp/1.1.1.1/53".to_owned(),
        "mount -t tmpfs none /mnt".to_owned(),
    ] {
        let ran = here.run(&line);
        assert!(!ran.success && !ran.output.contains("secret-of"), "{line}: {ran:?}");
    }
    // Its processes and `/tmp` are its own; a workspace below `/tmp` stands there too.
    let listed = here.run("ls -d /proc/[0-9]* | wc -l; ls -A /tmp | wc -l").output;
    let counts: Vec<usize> = listed.lines().map(|it| it.trim().parse().unwrap()).collect();
    assert!(counts[0] < 8 && counts[1] <= 1, "{listed}");
    // It stays in its folder, and it ends.
    here.run("cd sub");
    let slow = here.within("setsid sleep 300 & sleep 300", 1);
    assert!(slow.timed_out, "{slow:?}");
    println!("not skipped: held by {}", Sandbox::bubblewrap().unwrap().kind());
}

#[test]
fn a_machine_without_a_sandbox_says_so_and_runs_nothing() {
    let error = Sandbox::by("/no/such/bwrap").unwrap_err().to_string();
    assert!(error.contains("`bubblewrap` cannot be used: it cannot be started: "), "{error}");
    let error = Sandbox::by("/bin/false").unwrap_err().to_string();
    assert!(error.contains("it cannot make a sandbox on this machine: it said nothing"), "{error}");
}

fn cli(script: &str, schema: Value) -> (TempDir, Executor) {
    use std::os::unix::fs::PermissionsExt as _;
    let around = folders();
    let program = around.path().join("outside/program");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let workspace = Arc::new(Workspace::open(around.path().join("inside")).unwrap());
    let tool = CliTool::new("lint", "Looks.", program, schema, Effect::Read, Danger::Safe)
        .fixed(["check"]);
    let tool = tool
        .positional("path")
        .timeout_seconds(1)
        .tool(workspace, Arc::new(Shell::new(supervisor())));
    let executor = Executor::builder(Registry::of([tool]).unwrap()).unrestricted().build().unwrap();
    (around, executor)
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Which."},
            "max_depth": {"type": "integer", "description": "How deep."},
            "fix": {"type": "boolean", "description": "Whether."},
            "mode": {"type": "string", "description": "How."},
        },
        "additionalProperties": false,
    })
}

/// `S4.64`, `S4.65`: an executable is a tool, its arguments are its input.
/// `S4.67`, `S4.68`, `S4.74`: its JSON is its output with every exit code, and standard error is its error.
#[test]
fn an_executable_is_a_tool_whose_json_is_its_output_with_every_exit_code() {
    let (_around, executor) = cli(
        "#!/bin/sh\nprintf '[\"%s\"]' \"$*\"\ncat >&2\necho wrong >&2\n[ \"$3\" != 9 ]\n",
        schema(),
    );
    let run = |input: Value| -> ProcessOutput {
        let answer =
            runtime().block_on(executor.call(&Call::new("lint", input.to_string().as_str())));
        assert!(!answer.is_error(), "{}", answer.text());
        serde_json::from_str(&answer.text()).unwrap()
    };
    let good = run(json!({"path": "--all", "max_depth": 3, "fix": true}));
    assert_eq!(
        (good.success, good.output.as_str()),
        (true, r#"["check --fix --max-depth 3 -- --all"]"#)
    );
    let bad = run(json!({"max_depth": 9}));
    assert_eq!(
        (bad.success, bad.exit_code, bad.output.as_str()),
        (false, Some(1), r#"["check --max-depth 9"]"#)
    );
    assert_eq!(bad.error.as_deref(), Some("exit status: 1: wrong"));
}

#[test]
fn a_value_never_becomes_a_flag_and_what_makes_no_argument_is_refused() {
    let properties = json!({
        "fix": {"type": "boolean"}, "mode": {}, "ticketId": {"type": "string"},
        "dry_run": {"type": "boolean"}, "outputJSON": {"type": "integer"}, "=x": {"type": "integer"},
    });
    let schema = json!({"type": "object", "properties": properties});
    let tool = CliTool::new("a", "Looks.", "a", schema, Effect::Read, Danger::Safe);
    let built = |input: Value| tool.build_args(&input).map_err(|it| it.to_string());
    assert_eq!(built(json!({"mode": "--force"})).unwrap(), ["--mode=--force"]);
    assert_eq!(built(json!({"mode": "a b; c"})).unwrap(), ["--mode", "a b; c"]);
    let keys = built(json!({"ticketId": "T-1", "dry_run": true, "outputJSON": 1})).unwrap();
    assert_eq!(keys, ["--dry-run", "--output-json", "1", "--ticket-id", "T-1"]);
    assert_eq!(built(json!({"fix": false, "mode": null})).unwrap(), [""; 0]);
    assert!(built(json!({"mode": "a\u{0}b"})).unwrap_err().contains("NUL"));
    assert!(built(json!({"mode": {"a": 1}})).unwrap_err().contains("object"));
    assert!(built(json!({"=x": 1})).unwrap_err().contains("makes no flag"));
}

/// A schema that says nothing about further keys accepts them, so that a model could choose any flag.
#[test]
fn a_key_that_the_schema_does_not_name_becomes_a_flag_only_if_the_author_allows_further_keys() {
    let tool = |more: Value| {
        let mut schema = json!({"type": "object", "properties": {"mode": {"type": "string"}}});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        CliTool::new("a", "Looks.", "a", schema, Effect::Read, Danger::Safe)
    };
    let input = json!({"mode": "b", "output": "/x"});
    for more in [json!({}), json!({"additionalProperties": false})] {
        let refused = tool(more).build_args(&input).unwrap_err().to_string();
        assert_eq!(refused, "`output` is not a key of this tool");
    }
    let further = tool(json!({"additionalProperties": {"type": "string"}}));
    assert_eq!(further.build_args(&input).unwrap(), ["--mode", "b", "--output", "/x"]);
}

#[test]
fn a_program_that_cannot_be_started_is_an_error_and_a_slow_one_is_ended() {
    let (around, executor) = cli("#!/bin/sh\nsleep 300\n", schema());
    let call = || runtime().block_on(executor.call(&Call::new("lint", "{}")));
    let slow: ProcessOutput = serde_json::from_str(&call().text()).unwrap();
    assert!(slow.timed_out && !slow.success && slow.exit_code.is_none(), "{slow:?}");
    let program = around.path().join("outside/program");
    fs::write(&program, "echo no first line\n").unwrap();
    assert_eq!(call().error().unwrap().kind(), "not_a_program");
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    assert_eq!(call().error().unwrap().kind(), "permission_denied");
    fs::remove_file(&program).unwrap();
    assert_eq!(call().error().unwrap().kind(), "not_found");
}
