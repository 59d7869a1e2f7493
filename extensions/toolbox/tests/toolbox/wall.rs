//! The second wall: lines that run because they are rated safe run read-only and without the network, and no others.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright::policy::{ArgumentTest, Policy, Rule};
use toolwright::{Answer, Call, Executor, ProcessOutput, Registry};
use toolwright_toolbox::{BASH, Sandbox, Shell, ShellReader, Workspace};

use crate::bash::{folders, supervisor};
use crate::support::runtime;

struct Here {
    around: TempDir,
    executor: Executor,
}

/// What runs in place of bubblewrap: notes how it was called, and runs the program.
fn stand_in(around: &Path) -> Sandbox {
    let program = around.join("outside/bwrap");
    let noted = around.join("outside/called");
    let script = format!(
        "#!/bin/sh\necho \"$@\" >> '{}'\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n",
        noted.display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let sandbox = Sandbox::by(program).unwrap();
    fs::write(noted, "").unwrap();
    sandbox
}

fn here(wall: impl FnOnce(&Path) -> Option<Sandbox>) -> Here {
    let around = folders();
    fs::write(around.path().join("inside/a"), "a\n").unwrap();
    let workspace = Workspace::open(around.path().join("inside")).unwrap();
    let shell = Shell::new(supervisor());
    let shell = wall(around.path()).into_iter().fold(shell, Shell::with_wall);
    let allow = ArgumentTest::program(["touch"]);
    let rule = Rule::allow("it can be made again").tool("bash").argument("/command", allow);
    let policy = Policy::builder().base(workspace.root()).commands(ShellReader);
    let policy = policy.rule(rule.touches(["a"], ["made"]));
    let executor = Executor::builder(Registry::of([BASH]).unwrap()).policy(policy);
    let executor = executor.service(workspace).service(shell).build().unwrap();
    Here { around, executor }
}

impl Here {
    fn answer(&self, input: Value) -> Answer {
        let input = input.to_string();
        runtime().block_on(self.executor.call(&Call::new("bash", input.as_str())))
    }

    fn ran(&self, command: &str) -> ProcessOutput {
        let answer = self.answer(json!({ "command": command }));
        assert!(!answer.is_error(), "{command}: {}", answer.text());
        serde_json::from_str(&answer.text()).unwrap()
    }

    /// How the sandbox was called.
    fn called(&self) -> String {
        fs::read_to_string(self.around.path().join("outside/called")).unwrap()
    }
}

#[test]
fn a_line_that_is_rated_safe_runs_in_the_wall_and_one_that_a_rule_allows_does_not() {
    let here = here(|around| Some(stand_in(around)));
    assert_eq!(here.ran("cat a").output, "a\n");
    let called = here.called();
    let root = here.around.path().join("inside").canonicalize().unwrap();
    let bound = format!("--ro-bind {0} {0}", root.display());
    assert!(called.contains("--unshare-net") && called.contains(&bound), "{called}");
    here.ran("touch made");
    assert!(here.around.path().join("inside/made").exists());
    assert_eq!(here.called(), called, "what a rule allows runs as it is");
}

#[test]
fn a_line_that_fails_in_the_wall_says_so_and_a_person_decides_outside_of_it() {
    let here = here(|around| Some(stand_in(around)));
    let failed = here.ran("cat none");
    assert!(failed.output.starts_with("[stderr] cat: none: "), "{failed:?}");
    let words = failed.error.unwrap();
    assert!(words.starts_with("exit status: 1; it ran in a sandbox, read-only"), "{words}");
    assert!(words.contains("repeat it with `outside` true"), "{words}");
    // Its exit code is what such a program has to say.
    assert_eq!(here.ran("grep nothing a").error.as_deref(), Some("exit status: 1"));
    let called = here.called();
    let asked = here.answer(json!({"command": "cat none", "outside": true}));
    assert_eq!(asked.error().unwrap().kind(), "approval_required", "{}", asked.text());
    assert!(asked.text().contains("outside of the sandbox"), "{}", asked.text());
    assert_eq!(here.called(), called, "it ran");
    // An allow does not answer for a person there, and is not asked twice where there is nothing to leave.
    let allowed = here.answer(json!({"command": "touch x", "outside": true}));
    assert!(!allowed.is_error(), "{}", allowed.text());
}

#[test]
fn without_a_wall_a_safe_line_runs_as_before_and_there_is_nothing_to_leave() {
    let here = here(|_| None);
    assert_eq!(here.ran("cat a").output, "a\n");
    assert_eq!(here.ran("cat none").error.as_deref(), Some("exit status: 1"));
    assert!(!here.answer(json!({"command": "cat a", "outside": true})).is_error());
}

/// What the real wall keeps a line from, whatever it was taken for; printed as skipped where this machine makes none.
#[cfg(target_os = "linux")]
#[test]
fn in_a_sandbox_without_writes_a_line_changes_nothing_and_reaches_no_network() {
    use toolwright_toolbox::SandboxLack::{NetworkBlock, PrivateTmp};
    use toolwright_toolbox::{SANDBOXED_BASH, SandboxKind, SandboxedShell};

    let sandbox = match Sandbox::of_this_machine(&supervisor(), &[PrivateTmp, NetworkBlock]) {
        Ok(sandbox) => sandbox,
        Err(error) => return println!("skipped: {error}"),
    };
    let kind = sandbox.kind();
    let around = folders();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let temporary = std::env::temp_dir().join(format!("made-{}", std::process::id()));
    let line = format!(
        "cat a; echo x > made; echo x > {}; : 3<>/dev/tcp/127.0.0.1/{} && echo connected",
        temporary.display(),
        server.local_addr().unwrap().port()
    );
    let input = json!({ "command": line }).to_string();
    fs::write(around.path().join("inside/a"), "a\n").unwrap();
    let ran = |sandbox: Sandbox| -> ProcessOutput {
        let workspace = Workspace::open(around.path().join("inside")).unwrap();
        let executor = Executor::builder(Registry::of([SANDBOXED_BASH]).unwrap()).unrestricted();
        let shell = SandboxedShell::new(supervisor(), sandbox);
        let executor = executor.service(workspace).service(shell).build().unwrap();
        let answer = runtime().block_on(executor.call(&Call::new("bash", input.as_str())));
        serde_json::from_str(&answer.text()).unwrap()
    };
    let made = || fs::remove_file(around.path().join("inside/made")).is_ok();
    let held = ran(sandbox.clone().without_writes());
    assert!(held.output.starts_with("a\n") && !held.output.contains("connected"), "{held:?}");
    assert!(!made(), "it wrote: {held:?}");
    // The `/tmp` of bubblewrap is gone with the line.
    assert!(kind == SandboxKind::Bubblewrap || fs::remove_file(&temporary).is_err(), "{held:?}");
    let free = ran(sandbox.with_network());
    assert!(free.output.contains("connected") && made(), "the line does what it says: {free:?}");
    let _ = fs::remove_file(&temporary);
    println!("not skipped: held by {kind}");
}
