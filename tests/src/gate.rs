//! The gate stops for what is broken and not for what failed once by chance.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// What `cargo test --no-fail-fast` prints of three programs, a test of the docs and a program that aborts.
const FAILURES: &str = "     Running unittests src/lib.rs (target/debug/deps/one-1)
test clocks::waits ... FAILED
test clocks::starts ... ok

failures:

---- clocks::waits stdout ----
thread 'clocks::waits' panicked at src/clocks.rs:3:5:
it came too late

failures:
    clocks::waits

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s

error: test failed, to rerun pass `-p one --lib`
     Running tests/two/main.rs (target/debug/deps/two-2)
test result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
     Running tests/three/main.rs (target/debug/deps/three-3)
error: test failed, to rerun pass `-p three --test three`

Caused by:
  process didn't exit successfully: `three` (signal: 6, SIGABRT: process abort signal)
   Doc-tests four

failures:

---- src/lib.rs - four (line 7) stdout ----
Test executable failed (exit status: 101).

failures:
    src/lib.rs - four (line 7)

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s

error: doctest failed, to rerun pass `-p four --doc`
error: 3 targets failed:
    `-p one --lib`
    `-p three --test three`
    `-p four --doc`
";

/// Runs `again` over what cargo printed, with a cargo that does this. Returns whether the gate goes on, what it
/// lists as flaky and how cargo was called.
fn again(printed: &str, cargo: &str) -> (bool, String, String) {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("log"), printed).unwrap();
    let called = path("called");
    let script = format!("#!/bin/sh\necho \"$*\" >>{}\n{cargo}\n", called.display());
    fs::write(path("cargo"), script).unwrap();
    fs::set_permissions(path("cargo"), fs::Permissions::from_mode(0o755)).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let status = Command::new(root.join(".ci/again"))
        .args([path("log"), path("flaky"), path("cargo")])
        .arg("test")
        .output()
        .unwrap()
        .status;
    let text = |path| fs::read_to_string(path).unwrap_or_default();
    (status.success(), text(path("flaky")), text(called))
}

const PASSES: &str = "echo 'test result: ok. 1 passed; 0 failed'";

#[test]
fn tests_that_pass_three_times_alone_are_listed_as_flaky_with_their_first_failure() {
    let (goes_on, flaky, called) = again(FAILURES, PASSES);
    assert!(goes_on);
    let lines: Vec<&str> = flaky.lines().collect();
    assert_eq!(
        lines,
        [
            "flaky: --lib clocks::waits",
            "    thread 'clocks::waits' panicked at src/clocks.rs:3:5:",
            "    it came too late",
            "flaky: --test three *",
            "flaky: --doc src/lib.rs - four (line 7)",
            "    Test executable failed (exit status: 101).",
        ]
    );
    let calls: Vec<&str> = called.lines().collect();
    assert_eq!(calls[..3], ["test --lib -- --exact clocks::waits"; 3]);
    assert_eq!(calls[3..6], ["test --test three"; 3]);
    assert_eq!(calls[6..], ["test --doc -- --exact src/lib.rs - four (line 7)"; 3]);
}

#[test]
fn a_test_that_fails_again_once_stops_the_gate() {
    // The second of three runs of each.
    let cargo =
        format!("[ $(grep -cFx \"$*\" \"$(dirname \"$0\")/called\") -ne 2 ] || exit 101; {PASSES}");
    let (goes_on, flaky, _) = again(FAILURES, &cargo);
    assert!(!goes_on);
    assert_eq!(flaky, "");
}

#[test]
fn a_run_in_which_no_test_ran_proves_nothing() {
    assert!(!again(FAILURES, "echo 'test result: ok. 0 passed; 0 failed'").0);
}

#[test]
fn what_does_not_compile_stops_the_gate_without_another_run() {
    let (goes_on, _, called) = again("error[E0425]: cannot find value `x` in this scope\n", PASSES);
    assert!(!goes_on);
    assert_eq!(called, "");
}

#[test]
fn more_failures_than_chance_explains_stop_the_gate_without_another_run() {
    let names: String = (0..11).map(|it| format!("    t{it}\n")).collect();
    let printed = format!("failures:\n{names}\nerror: test failed, to rerun pass `-p one --lib`\n");
    let (goes_on, _, called) = again(&printed, PASSES);
    assert!(!goes_on);
    assert_eq!(called, "");
}

/// The packages below the members that are built by default, each with its features.
fn packages(edges: &str) -> Vec<String> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--prefix", "none", "--format", "{p} {f}", "--edges", edges])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let text = String::from_utf8(tree.stdout).unwrap();
    text.lines().map(|line| line.trim_end_matches(" (*)").trim_end().to_owned()).collect()
}

#[test]
fn what_runs_and_what_is_tested_is_built_once() {
    let tested = packages("normal,build,dev");
    assert!(tested.len() > 100, "{tested:#?}");
    for package in packages("normal,build") {
        assert!(tested.contains(&package), "only without tests: {package}; see tests/Cargo.toml");
    }
}
