//! Suites of each kind of project, and those that hang, print without end or leave something behind.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{folder, report};
use crate::support::{executables, script};

const LIB: &str = "#[test]\nfn passes() {}\n#[test]\nfn fails() { assert_eq!(1, 2, \"no\") }\n#[test]\n#[ignore]\nfn skipped() {}\n";

/// `S4.29`: cargo's output as cases; a suite that fails is a report with code 1.
#[test]
fn a_failing_cargo_suite_is_a_report_with_its_cases_and_code_1() {
    let folder = folder(&[
        ("Cargo.toml", "[package]\nname = \"tea\"\nedition = \"2024\"\n[workspace]\n"),
        ("src/lib.rs", LIB),
    ]);
    let (suite, code) = report("bonsai-test", folder.path(), &["."]);
    assert_eq!((code, &suite["passed"], &suite["exit_code"]), (1, &json!(false), &json!(101)));
    assert_eq!(suite["totals"], json!({"passed": 1, "failed": 1, "skipped": 1}));
    let failed = &suite["cases"][0];
    assert_eq!(
        (&failed["name"], &failed["status"]),
        (&json!("src/lib.rs: fails"), &json!("failed"))
    );
    assert!(failed["message"].as_str().unwrap().contains("left: 1"), "{failed}");
    assert_eq!(suite.get("output"), None);
    fs::write(folder.path().join("src/lib.rs"), "fn broken(").unwrap();
    let (suite, code) = report("bonsai-test", folder.path(), &["."]);
    assert_eq!((code, &suite["parsed"]), (1, &json!(false)));
    assert!(suite["output"].as_str().unwrap().contains("unclosed delimiter"), "{suite}");
}

/// `S4.29`: a suite of Node, in the form that its own runner writes; skipped where there is no npm.
#[test]
fn an_npm_suite_is_a_report_with_its_cases() {
    if Command::new("npm").arg("--version").output().is_err() {
        println!("skipped: there is no npm");
        return;
    }
    let test = "const test = require('node:test'); const assert = require('node:assert');\n\
        test('passes', () => {}); test('fails', () => assert.equal(1, 2)); test('later', { skip: true }, () => {});\n";
    let package = r#"{"scripts": {"test": "node --test --test-reporter=tap a.test.js"}}"#;
    let folder = folder(&[("package.json", package), ("a.test.js", test)]);
    let (suite, code) = report("bonsai-test", folder.path(), &["."]);
    assert_eq!(code, 1, "{suite}");
    assert_eq!(suite["totals"], json!({"passed": 1, "failed": 1, "skipped": 1}), "{suite}");
    assert_eq!(suite["cases"][0], json!({"name": "fails", "status": "failed"}), "{suite}");
}

/// The program with a `python3` of the test's own, because pytest is not on every machine.
fn with_python(text: &str, folder: &Path) -> Command {
    let python = folder.join("bin/python3");
    script(&python, text);
    let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(executables().join("bonsai-test"));
    command.arg(".").current_dir(folder).env("PATH", path);
    command
}

/// `S4.29`: what pytest 9 has printed.
#[test]
fn a_pytest_suite_is_a_report_with_its_cases() {
    let folder =
        folder(&[("pyproject.toml", ""), ("printed.txt", include_str!("printed/pytest.txt"))]);
    let output =
        with_python("#!/bin/sh\ncat printed.txt\nexit 1\n", folder.path()).output().unwrap();
    let suite: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(suite["totals"], json!({"passed": 3, "failed": 2, "skipped": 2}));
    assert_eq!(
        suite["cases"],
        json!([
            {"name": "tests/test_a.py::test_fails", "status": "failed", "message": "AssertionError: no - really"},
            {"name": "tests/test_a.py::test_p[x - y]", "status": "failed", "message": "AssertionError: assert 'x - y' == 2"},
            {"name": "tests/test_a.py::test_passes", "status": "passed"},
            {"name": "tests/test_a.py::test_p[2]", "status": "passed"},
            {"name": "tests/test_a.py::TestC::test_m", "status": "passed"},
            {"name": "tests/test_a.py:5", "status": "skipped", "message": "later"},
            {"name": "tests/test_a.py::test_x", "status": "skipped"},
        ])
    );
    assert_eq!(suite.get("output"), None);
}

/// `S4.29`: what mocha 12, jest 30, vitest 4 and Node 20 have printed of one suite, in which a case passes, one fails and one is
/// skipped.
#[test]
fn the_usual_runners_of_node_are_understood() {
    if Command::new("npm").arg("--version").output().is_err() {
        println!("skipped: there is no npm");
        return;
    }
    for (runner, printed) in [
        ("mocha", include_str!("printed/mocha.txt")),
        ("jest", include_str!("printed/jest.txt")),
        ("vitest", include_str!("printed/vitest.txt")),
        ("node, spec", include_str!("printed/node-spec.txt")),
        ("node, tap", include_str!("printed/node-tap.txt")),
    ] {
        let package = r#"{"scripts": {"test": "cat printed.txt; exit 1"}}"#;
        let folder = folder(&[("package.json", package), ("printed.txt", printed)]);
        let (suite, code) = report("bonsai-test", folder.path(), &["."]);
        let totals = json!({"passed": 1, "failed": 1, "skipped": 1});
        assert_eq!((code, &suite["totals"]), (1, &totals), "{runner}: {suite}");
        let cases = suite["cases"].as_array().unwrap().iter();
        let cases = cases.map(|it| (it["name"].as_str().unwrap(), it["status"].as_str().unwrap()));
        let cases: Vec<_> = cases.filter(|(_, status)| *status != "skipped").collect();
        assert_eq!(cases, [("fails", "failed"), ("passes", "passed")], "{runner}");
    }
}

#[test]
fn output_in_no_known_form_is_text_and_shows_nothing_about_the_tests() {
    let folder = folder(&[("pyproject.toml", "")]);
    let output = with_python("#!/bin/sh\necho all is well\n", folder.path()).output().unwrap();
    let suite: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (output.status.code(), &suite["passed"], &suite["parsed"]),
        (Some(0), &json!(true), &json!(false))
    );
    assert_eq!(suite["output"], "all is well\n");
}

#[test]
fn totals_beyond_every_number_are_counted_up_to_the_largest() {
    let folder = folder(&[("pyproject.toml", "")]);
    let script = format!("#!/bin/sh\necho '{} passed, 1 xpassed in 0.03s'\n", usize::MAX);
    let output = with_python(&script, folder.path()).output().unwrap();
    let suite: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(suite["totals"]["passed"], usize::MAX, "{suite}");
}

/// Whether the process whose number is in this file is gone, or will be: one that was killed may take a moment.
fn is_gone(file: &Path) -> bool {
    let pid = fs::read_to_string(file).unwrap();
    (0..500).any(|_| {
        let state = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        std::thread::sleep(std::time::Duration::from_millis(10));
        state.is_empty() || state.contains(") Z ")
    })
}

#[test]
fn a_suite_that_hangs_is_ended_with_all_that_it_started() {
    let folder = folder(&[("pyproject.toml", "")]);
    let script = "#!/bin/sh\necho begun\nsleep 600 &\necho $! > pid\nwait\n";
    let output = with_python(script, folder.path()).args(["--limit", "1"]).output().unwrap();
    let suite: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &suite["timed_out"]), (Some(1), &json!(true)));
    assert_eq!((&suite["exit_code"], &suite["output"]), (&json!(null), &json!("begun\n")));
    assert!(is_gone(&folder.path().join("pid")));
}

#[test]
fn what_a_suite_leaves_behind_is_ended_with_it() {
    let folder = folder(&[("pyproject.toml", "")]);
    let script = "#!/bin/sh\nsleep 600 &\necho $! > pid\necho 1 passed in 0.1s\n";
    let output = with_python(script, folder.path()).output().unwrap();
    let suite: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &suite["totals"]["passed"]), (Some(0), &json!(1)));
    assert!(is_gone(&folder.path().join("pid")));
}

#[test]
fn a_suite_that_prints_without_end_is_read_to_its_end_and_reported_in_short() {
    let folder = folder(&[("pyproject.toml", "")]);
    let script = "#!/bin/sh\nhead -c 50000000 /dev/zero | tr '\\0' 'x'\necho\n\
        i=0; while [ $i -lt 2000 ]; do echo \"FAILED tests/test_a.py::test_$i - no\"; i=$((i+1)); done\n\
        echo '2000 failed in 0.1s'\nexit 1\n";
    let output = with_python(script, folder.path()).output().unwrap();
    assert!(output.stdout.len() < 30_000, "{}", output.stdout.len());
    let suite: Value = serde_json::from_slice(&output.stdout).unwrap();
    let written = suite["cases"].as_array().unwrap().len();
    assert_eq!(suite["totals"]["failed"], 2000);
    assert_eq!(suite["omitted"], 2000 - written);
}

/// A failed case whose output has no end, and cases without end, within a limit of memory.
#[test]
fn a_suite_whose_cases_have_no_end_is_held_in_part() {
    let folder = folder(&[("Cargo.toml", "[package]\nname = \"a\"\n")]);
    for (beginning, line) in [
        ("test a ... FAILED\n---- a stdout ----", "a line of a test that prints without end"),
        ("", "test a ... ok"),
    ] {
        let printing = format!("#!/bin/sh\necho '{beginning}'\nexec yes '{line}'\n");
        script(&folder.path().join("cargo"), &printing);
        let program = executables().join("bonsai-test");
        let limited = format!("ulimit -v 400000; exec {} . --limit 8", program.display());
        let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("sh");
        command.args(["-c", &limited]).current_dir(folder.path()).env("PATH", path);
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let report: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{errors}"));
        assert_eq!(report["timed_out"], true);
    }
}
