//! What the settings of a folder name does not run where a line is safe.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use toolwright::{Call, Danger, Executor, Registry};
use toolwright_toolbox::{BASH, Shell, Workspace, classify};

use crate::bash::{folders, supervisor};
use crate::support::runtime;

/// Everyday lines of git that read, with and without the flags that switch programs off.
const LINES: [&str; 26] = [
    "git status",
    "git status --short",
    "git diff --stat",
    "git diff --name-only HEAD",
    "git diff --cached --stat",
    "git diff",
    "git diff --no-ext-diff --no-textconv",
    "git diff --no-textconv",
    "git show HEAD",
    "git show --stat HEAD",
    "git show --no-textconv HEAD",
    "git show HEAD:a.x",
    "git log --oneline",
    "git log -p",
    "git log -p --no-textconv",
    "git log -Sa",
    "git log --format=%G?",
    "git log --show-signature",
    "git blame a.x",
    "git blame --no-textconv a.x",
    "git ls-files -m",
    "git grep a",
    "git describe --always --dirty",
    "git branch -vv",
    "git clean -n",
    "cd sub && git status",
];

#[test]
fn a_safe_line_starts_no_program_that_the_settings_of_the_repository_name() {
    let around = folders();
    let inside = around.path().join("inside");
    let programs = around.path().join("programs");
    fs::create_dir(&programs).unwrap();
    let marks = around.path().join("ran");
    repository(&inside, &programs, &marks);
    let builder = Executor::builder(Registry::of([BASH]).unwrap()).unrestricted();
    let workspace = Workspace::open(&inside).unwrap();
    let executor = builder.service(workspace).service(Shell::new(supervisor())).build().unwrap();
    let mut ran = Vec::new();
    let mut safe = 0;
    for line in LINES {
        let is_safe = classify(line).danger() == Danger::Safe;
        safe += usize::from(is_safe);
        // A changed time makes git look at the file itself.
        fs::write(inside.join("a.x"), "b\n").unwrap();
        let _ = fs::remove_file(&marks);
        let input = json!({ "command": line }).to_string();
        let answer = runtime().block_on(executor.call(&Call::new("bash", input.as_str())));
        assert!(!answer.is_error(), "{line}: {}", answer.text());
        if let Ok(names) = fs::read_to_string(&marks)
            && is_safe
        {
            ran.push(format!("{line}: {}", names.trim()));
        }
    }
    assert_eq!(ran, Vec::<String>::new());
    assert!(safe >= 16, "only {safe} of the lines are safe");
}

/// A repository whose settings name a program wherever they can, but for filters, which no variable switches off.
fn repository(inside: &Path, programs: &Path, marks: &Path) {
    let git = |arguments: &[&str]| {
        let names =
            ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];
        let done = Command::new("git")
            .args(arguments)
            .envs(names.map(|it| (it, "a")))
            .current_dir(inside)
            .output();
        let done = done.unwrap();
        assert!(done.status.success(), "{arguments:?}: {done:?}");
    };
    git(&["init", "--quiet", "."]);
    fs::create_dir_all(inside.join("sub")).unwrap();
    fs::write(inside.join("a.x"), "a\n").unwrap();
    fs::write(inside.join(".gitattributes"), "*.x diff=d\n").unwrap();
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "one"]);
    let settings = [
        "core.fsmonitor",
        "diff.d.textconv",
        "diff.d.command",
        "diff.external",
        "gpg.program",
        "core.pager",
    ];
    for (at, key) in settings.into_iter().enumerate() {
        let program = script(&programs.join(at.to_string()), key, marks);
        git(&["config", key, &program]);
    }
    git(&["config", "log.showSignature", "true"]);
    let hooks = inside.join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    script(&hooks.join("post-index-change"), "a hook", marks);
}

fn script(path: &Path, name: &str, marks: &Path) -> String {
    fs::write(
        path,
        format!("#!/bin/sh\necho {name} >> '{}'\ncat \"$1\" 2>/dev/null\n", marks.display()),
    )
    .unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}
