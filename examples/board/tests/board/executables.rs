//! The executables from a terminal, on projects of each kind.

mod suites;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use board::ticket::{Evidence, State};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{around, call, executables, json as called, repository, script};

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    folder
}

fn program(name: &str, folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(executables().join(name));
    command
        .args(arguments)
        .current_dir(folder)
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("RUST_BACKTRACE");
    command.output().unwrap()
}

/// What a program reports, and its exit code.
fn report(name: &str, folder: &Path, arguments: &[&str]) -> (Value, i32) {
    let output = program(name, folder, arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let report =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{name}: {errors}"));
    (report, output.status.code().unwrap())
}

/// `S4.27`, `S4.38`: the fields of an analysis, for the three kinds of projects.
#[test]
fn a_repository_is_analyzed_by_its_manifest_and_its_files() {
    let rust = folder(&[
        ("Cargo.toml", "[package]\nname = \"a\"\n[dependencies]\naxum = \"0.8\"\ntokio = \"1\"\n"),
        ("src/lib.rs", ""),
        ("tests/a.rs", ""),
        ("target/debug/a.rs", ""),
        (".gitignore", "target\n"),
    ]);
    let (found, code) = report("bonsai-analyze", rust.path(), &["."]);
    assert_eq!(code, 0);
    assert_eq!(
        found,
        json!({
            "language": "rust", "framework": "axum", "packageManager": "cargo", "testRunner": "cargo test", "sourceFiles": 2,
            "structure": {"src/": "sources: 1 files, 1 of them sources", "tests/": "tests: 1 files, 1 of them sources"},
        })
    );
    let node = folder(&[
        (
            "package.json",
            r#"{"dependencies": {"react": "19"}, "devDependencies": {"vitest": "3"}}"#,
        ),
        ("tsconfig.json", "{}"),
        ("pnpm-lock.yaml", ""),
        ("src/a.tsx", ""),
    ]);
    let (found, _) = report("bonsai-analyze", node.path(), &["."]);
    let fields = ["language", "framework", "packageManager", "testRunner", "sourceFiles"];
    assert_eq!(
        fields.map(|it| found[it].clone()),
        [json!("typescript"), json!("react"), json!("pnpm"), json!("vitest"), json!(1)]
    );
    let python = folder(&[
        (
            "pyproject.toml",
            "[project]\ndependencies = [\"Django>=5\"]\n[dependency-groups]\ndev = [\"pytest\"]\n",
        ),
        ("uv.lock", ""),
        ("app/a.py", ""),
    ]);
    let (found, _) = report("bonsai-analyze", python.path(), &["."]);
    assert_eq!(
        fields.map(|it| found[it].clone()),
        [json!("python"), json!("django"), json!("uv"), json!("pytest"), json!(1)]
    );
    let nothing = folder(&[("a.txt", "")]);
    let (found, _) = report("bonsai-analyze", nothing.path(), &["."]);
    assert_eq!(
        fields.map(|it| found[it].clone()),
        [json!(null), json!(null), json!(null), json!(null), json!(0)]
    );
}

/// `S4.61`, `S4.62`, `S4.63`: each executable says its usage on standard error where an argument is missing, and why it cannot do its work;
/// the code is 1, and standard output is empty.
#[test]
fn a_missing_argument_and_a_failure_are_written_to_standard_error_with_code_1() {
    let folder = folder(&[("Cargo.toml", "[package")]);
    for name in [
        "bonsai-analyze",
        "bonsai-plan",
        "bonsai-test",
        "bonsai-lint",
        "bonsai-git",
        "bonsai-criteria",
    ] {
        let output = program(name, folder.path(), &[]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{name}");
        assert!(
            String::from_utf8_lossy(&output.stderr).contains(&format!("Usage: {name}")),
            "{name}"
        );
        let help = program(name, folder.path(), &["--help"]);
        assert!(help.status.success() && !help.stdout.is_empty(), "{name}");
    }
    for (name, arguments, words) in [
        ("bonsai-analyze", &["."][..], "error: `Cargo.toml` cannot be read"),
        (
            "bonsai-test",
            &["/no/such"],
            "error: `/no/such` cannot be opened: No such file or directory",
        ),
        ("bonsai-lint", &["Cargo.toml"], "error: `Cargo.toml` is not a folder"),
        ("bonsai-plan", &["Cargo.toml"], "error: `Cargo.toml` holds no ticket"),
        (
            "bonsai-git",
            &["push", "--", "-x", "main"],
            "error: found the remote `-x`, expected a name",
        ),
        (
            "bonsai-criteria",
            &["check", "1", "--board", "none.db"],
            "error: the board `none.db` is not there",
        ),
    ] {
        let output = program(name, folder.path(), arguments);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{name}");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(errors.starts_with(words), "{name}: {errors}");
    }
}

/// `S4.28`: a step for each criterion that is not met, and the open questions.
#[test]
fn a_plan_has_a_step_for_each_criterion_and_the_questions_that_are_open() {
    let ticket = json!({
        "title": "Hot tea", "description": "Tea is cold.\nMake it hot.",
        "acceptanceCriteria": [
            {"id": 1, "text": "It is hot", "evidence": "tests", "met": false},
            {"id": 2, "text": "It is described", "evidence": "file docs/tea.md", "met": false},
            {"id": 3, "text": "It tastes", "evidence": "person", "met": true},
        ],
        "comments": [
            {"type": "question", "content": "How hot?", "resolved": false},
            {"type": "question", "content": "Green?", "resolved": true},
        ],
    });
    let folder = folder(&[("ticket.json", &ticket.to_string())]);
    let (plan, code) = report("bonsai-plan", folder.path(), &["ticket.json"]);
    assert_eq!(code, 0);
    assert_eq!(
        plan,
        json!({
            "title": "Hot tea",
            "steps": [
                {"step": "Find the places that this is about: Tea is cold.", "done_when": "each place is named with its file, and what is there now"},
                {"step": "It is hot", "done_when": "the test suite passes"},
                {"step": "It is described", "done_when": "there is the file docs/tea.md"},
                {"step": "Check all acceptance criteria", "done_when": "every criterion is met, those 1 too that are met already"},
            ],
            "open_questions": ["How hot?"],
        })
    );
}

/// `S4.30`: what clippy finds, by file and line.
#[test]
fn what_a_linter_finds_is_a_report_with_code_1() {
    let folder = folder(&[
        ("Cargo.toml", "[package]\nname = \"tea\"\nedition = \"2024\"\n[workspace]\n"),
        ("src/lib.rs", "pub fn same(it: bool) -> bool {\n    return it;\n}\n"),
    ]);
    let (lint, code) = report("bonsai-lint", folder.path(), &["."]);
    assert_eq!((code, &lint["passed"], &lint["count"]), (1, &json!(false), &json!(1)), "{lint}");
    let problem = &lint["problems"][0];
    assert_eq!((&problem["file"], &problem["line"]), (&json!("src/lib.rs"), &json!(2)));
    assert_eq!(problem["code"], "clippy::needless_return");
    fs::write(folder.path().join("src/lib.rs"), "pub fn same(it: bool) -> bool {\n    it\n}\n")
        .unwrap();
    let (lint, code) = report("bonsai-lint", folder.path(), &["."]);
    assert_eq!((code, &lint["count"]), (0, &json!(0)), "{lint}");
}

/// A message repeats every source line that it is about.
#[test]
fn a_message_of_clippy_of_any_length_is_a_problem() {
    let folder = folder(&[("Cargo.toml", "[package]\nname = \"tea\"\n")]);
    script(&folder.path().join("bin/cargo"), "#!/bin/sh\ncat printed.txt\n");
    let path =
        format!("{}:{}", folder.path().join("bin").display(), std::env::var("PATH").unwrap());
    for (length, file, line) in [(20_000, "a.rs", 7), (2_000_000, "", 0)] {
        let text = "x".repeat(length);
        let span = json!({"file_name": "a.rs", "line_start": 7, "is_primary": true, "text": text});
        let message = json!({"level": "warning", "message": "too long", "spans": [span]});
        let printed = format!("{{\"reason\":\"compiler-message\",\"message\":{message}}}\n");
        fs::write(folder.path().join("printed.txt"), printed).unwrap();
        let mut command = Command::new(executables().join("bonsai-lint"));
        command.arg(".").current_dir(folder.path()).env("PATH", &path);
        let lint: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        assert_eq!((&lint["passed"], &lint["count"]), (&json!(false), &json!(1)), "{length}");
        let problem = &lint["problems"][0];
        assert_eq!((&problem["file"], &problem["line"]), (&json!(file), &json!(line)), "{length}");
    }
}

/// `S4.30`: what ESLint 10 has printed, by file and line; no folder of this machine.
#[test]
fn what_eslint_finds_is_named_by_its_file_in_the_repository() {
    if Command::new("npm").arg("--version").output().is_err() {
        println!("skipped: there is no npm");
        return;
    }
    let package = r#"{"scripts": {"lint": "cat printed.txt; exit 1"}}"#;
    let files = ["a.test.js", "c.js", "eslint.config.js", "n.test.js"].map(|it| (it, ""));
    let folder = folder(&[&files[..], &[("package.json", package)]].concat());
    let root = folder.path().canonicalize().unwrap();
    let printed = include_str!("executables/printed/eslint.txt");
    fs::write(root.join("printed.txt"), printed.replace("/home/project", root.to_str().unwrap()))
        .unwrap();
    let (lint, code) = report("bonsai-lint", &root, &["."]);
    assert_eq!((code, &lint["passed"]), (1, &json!(false)));
    let errors = lint["problems"].as_array().unwrap().iter().filter(|it| it["level"] == "error");
    let expected = json!({
        "file": "c.js", "line": 1, "level": "error", "code": "no-unused-vars",
        "message": "'a' is assigned a value but never used",
    });
    assert_eq!(errors.collect::<Vec<_>>(), [&expected]);
    assert!(!lint.to_string().contains(root.to_str().unwrap()), "{lint}");
}

/// `S4.31`: commit, branch, push and worktree in the folder that it runs in; what git refuses is code 1.
#[test]
fn git_commits_branches_pushes_and_makes_worktrees_in_its_folder() {
    let around = TempDir::new().unwrap();
    let (own, other) = (around.path().join("own"), around.path().join("other.git"));
    fs::create_dir(&own).unwrap();
    repository(&own, &[("a.txt", "a\n")]);
    crate::support::run_git(around.path(), &["init", "--quiet", "--bare", "other.git"]);
    crate::support::run_git(&own, &["remote", "add", "origin", other.to_str().unwrap()]);
    fs::write(own.join("a.txt"), "b\n").unwrap();
    for arguments in [
        &["branch", "work"][..],
        &["commit", "--message", "change a", "--", "a.txt"],
        &["push", "origin", "work"],
        &["worktree", "../tree", "more", "--from", "main"],
        &["show", "HEAD"],
    ] {
        let (ran, code) = report("bonsai-git", &own, arguments);
        assert_eq!(code, 0, "{arguments:?}: {ran}");
    }
    let log = crate::support::run_git(&other, &["log", "--format=%s", "work"]);
    assert_eq!(log, "change a\nbegin\n");
    assert_eq!(fs::read_to_string(around.path().join("tree/a.txt")).unwrap(), "a\n");
    let (refused, code) =
        report("bonsai-git", &own, &["commit", "--message", "again", "--", "a.txt"]);
    assert_eq!((code, &refused["success"], &refused["exit_code"]), (1, &json!(false), &json!(1)));
}

/// `S4.32`, `S4.69`, `S4.70`, `S4.71`, `S4.72`: the executables are tools of these names, the criteria are checked for the run's own ticket alone.
#[test]
fn the_executables_are_tools_and_criteria_are_checked_for_the_own_ticket_alone() {
    let around = around();
    let other = around
        .ticket(State::InProgress, &[(Evidence::File("README.md".to_owned()), "It is there")]);
    let ticket = around.ticket(
        State::InProgress,
        &[
            (Evidence::File("README.md".to_owned()), "It is there"),
            (Evidence::File("/etc/passwd".to_owned()), "It is elsewhere"),
        ],
    );
    let executor = around.executor(ticket, "developer");
    let catalog = executor.catalog();
    for name in ["analyze_project", "run_tests", "run_linter"] {
        let schema: Value =
            serde_json::from_str(&catalog.get(name).unwrap().input_schema.to_string()).unwrap();
        assert_eq!(schema["properties"], json!({}), "{name}");
    }
    let schema: Value =
        serde_json::from_str(&catalog.get("check_criteria").unwrap().input_schema.to_string())
            .unwrap();
    assert_eq!(schema["required"], json!(["ticketId"]));
    let foreign =
        call(&executor, "check_criteria", &json!({"ticketId": other.to_string()}).to_string());
    assert_eq!(foreign.error().unwrap().kind(), "invalid_input");

    let ran =
        called(&executor, "check_criteria", &json!({"ticketId": ticket.to_string()}).to_string());
    assert_eq!((&ran["success"], &ran["exit_code"]), (&json!(false), &json!(1)));
    let checked: Value = serde_json::from_str(ran["output"].as_str().unwrap()).unwrap();
    let met: Vec<_> = checked["criteria"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["met"].as_bool().unwrap())
        .collect();
    assert_eq!((&checked["all_met"], met), (&json!(false), vec![true, false]));
    let recorded: Vec<bool> =
        around.board.criteria(ticket).unwrap().iter().map(|it| it.met).collect();
    assert_eq!(recorded, [true, false]);
    // The repository has no suite: that is why, and no result.
    let tests = called(&executor, "run_tests", "{}");
    assert_eq!((&tests["success"], &tests["output"]), (&json!(false), &json!("")));
    assert!(tests["error"].as_str().unwrap().contains("found no project in"), "{tests}");
}

/// What a suite shows that changes the files which it tests holds for no files.
#[test]
fn a_suite_that_changes_files_meets_no_criterion() {
    let around = around();
    let ticket = around.ticket(State::InProgress, &[(Evidence::Tests, "It is hot")]);
    let repository = around.folder.path().join("repository");
    let source = "#[test]\nfn writes() { std::fs::write(\"made.txt\", \"x\").unwrap() }\n";
    fs::create_dir(repository.join("src")).unwrap();
    fs::write(repository.join("src/lib.rs"), source).unwrap();
    fs::write(
        repository.join("Cargo.toml"),
        "[package]\nname = \"tea\"\nedition = \"2024\"\n[workspace]\n",
    )
    .unwrap();
    fs::write(repository.join(".gitignore"), "target\nCargo.lock\n").unwrap();
    let board = around.board.path().to_str().unwrap();
    let arguments = ["check", &ticket.to_string(), "--board", board];
    let (checked, code) = report("bonsai-criteria", &repository, &arguments);
    assert_eq!(code, 1);
    let finding = checked["criteria"][0]["finding"].as_str().unwrap();
    assert!(
        finding
            .starts_with("cargo test: 1 passed, 0 failed, 0 skipped, but the check changed files"),
        "{finding}"
    );
    // What it changes is there now, and it changes nothing more.
    assert_eq!(report("bonsai-criteria", &repository, &arguments).1, 0);
}
