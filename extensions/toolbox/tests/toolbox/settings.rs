//! What the text of a safe line cannot say is looked at before it runs: settings that name programs, files with secrets.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use tempfile::TempDir;
use toolwright::policy::Policy;
use toolwright::{Answer, Call, Danger, Executor, Registry};
use toolwright_toolbox::{BASH, Shell, ShellReader, Workspace, classify};

use crate::bash::{folders, supervisor};
use crate::support::runtime;

/// Everyday lines of git that read.
const LINES: [&str; 29] = [
    "git status",
    "git status --short",
    "git diff",
    "git diff --stat",
    "git diff HEAD -- a.x",
    "git show HEAD",
    "git show --stat HEAD",
    "git show HEAD:a.x",
    "git log",
    "git log --oneline",
    "git log -p",
    "git log -Sa",
    "git log --format=%G?",
    "git log --show-signature",
    "git stash list -p",
    "git blame a.x",
    "git ls-files -m",
    "git grep a",
    "git describe --always --dirty",
    "git clean -n",
    "git diff-index -p HEAD",
    "git diff-tree -p HEAD",
    "git apply --check p.diff",
    "git submodule status",
    "cd sub && git status",
    "git -C sub status",
    "bash -c 'git status'",
    "cd evil; git status",
    "find . -name a.x -exec git status ';'",
];

struct Here {
    around: TempDir,
    executor: Executor,
}

impl Here {
    fn new() -> Self {
        let around = folders();
        fs::create_dir(around.path().join("programs")).unwrap();
        let builder = Executor::builder(Registry::of([BASH]).unwrap()).unrestricted();
        let workspace = Workspace::open(around.path().join("inside")).unwrap();
        let shell = Shell::new(supervisor());
        let executor = builder.service(workspace).service(shell).build().unwrap();
        Self { around, executor }
    }

    fn inside(&self) -> PathBuf {
        self.around.path().join("inside")
    }

    fn answer(&self, line: &str) -> Answer {
        let input = json!({ "command": line, "folder": "." }).to_string();
        runtime().block_on(self.executor.call(&Call::new("bash", input.as_str())))
    }

    /// Why a line that is rated safe does not run here.
    fn refused(&self, line: &str) -> Option<String> {
        assert_eq!(classify(line).danger(), Danger::Safe, "{line}");
        let answer = self.answer(line);
        let error = answer.error()?;
        assert_eq!(error.kind(), "not_safe_here", "{line}: {}", answer.text());
        Some(answer.text().into_owned())
    }

    /// A program that leaves a mark.
    fn program(&self, name: &str) -> String {
        let path = self.around.path().join("programs").join(name.replace('/', "-"));
        script(&path, name, &self.marks())
    }

    fn marks(&self) -> PathBuf {
        self.around.path().join("ran")
    }

    fn git(&self, folder: &str, arguments: &[&str]) {
        let names =
            ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];
        let done = Command::new("git")
            .args(["-c", "protocol.file.allow=always"])
            .args(arguments)
            .envs(names.map(|it| (it, "a")))
            .current_dir(self.inside().join(folder))
            .output();
        let done = done.unwrap();
        assert!(done.status.success(), "{arguments:?}: {done:?}");
    }

    /// A repository with a change, a stash and a submodule.
    fn repository(&self) {
        let inside = self.inside();
        for folder in ["other", "sub"] {
            fs::create_dir_all(inside.join(folder)).unwrap();
        }
        for folder in ["other", "."] {
            self.git(folder, &["init", "--quiet", "."]);
            fs::write(inside.join(folder).join("a.x"), "a\n").unwrap();
            fs::write(inside.join(folder).join(".gitattributes"), "*.x diff=d filter=f\n").unwrap();
            self.git(folder, &["add", "a.x", ".gitattributes"]);
            self.git(folder, &["commit", "--quiet", "-m", "one"]);
        }
        self.git(".", &["submodule", "--quiet", "add", "./other", "module"]);
        self.git(".", &["commit", "--quiet", "-m", "two"]);
        fs::write(inside.join("a.x"), "b\n").unwrap();
        self.git(".", &["stash"]);
        fs::write(inside.join("a.x"), "b\n").unwrap();
        let diff = "diff --git a/a.x b/a.x\n--- a/a.x\n+++ b/a.x\n@@ -1 +1 @@\n-b\n+c\n";
        fs::write(inside.join("p.diff"), diff).unwrap();
        // A clone may bring such a folder along: a repository without `.git`.
        fs::create_dir_all(inside.join("evil")).unwrap();
        self.git("evil", &["init", "--quiet", "--bare", "."]);
        let monitor = self.program("evil");
        for (key, value) in
            [("core.bare", "false"), ("core.worktree", ".."), ("filter.f.clean", &monitor)]
        {
            self.git("evil", &["--git-dir=.", "config", key, value]);
        }
    }

    /// The safe lines that started a program which a setting names, and how many are safe and ran.
    fn run_all(&self) -> (Vec<String>, usize) {
        let (mut ran, mut answered) = (Vec::new(), 0);
        for line in LINES {
            let is_safe = classify(line).danger() == Danger::Safe;
            // A changed time makes git look at the file itself.
            fs::write(self.inside().join("a.x"), "b\n").unwrap();
            fs::write(self.inside().join("module/a.x"), "b\n").unwrap();
            let _ = fs::remove_file(self.marks());
            let answer = self.answer(line);
            let kind = answer.error().map(|it| it.kind().to_owned());
            assert!(kind.is_none() || kind.as_deref() == Some("not_safe_here"), "{line}: {kind:?}");
            answered += usize::from(is_safe && kind.is_none());
            if let Ok(names) = fs::read_to_string(self.marks())
                && is_safe
            {
                ran.push(format!("{line}: {}", names.trim()));
            }
        }
        (ran, answered)
    }
}

/// Each setting alone, so that one that is found does not hide another.
#[test]
fn a_safe_line_starts_no_program_that_the_settings_of_the_repository_name() {
    let here = Here::new();
    here.repository();
    let (ran, answered) = here.run_all();
    assert_eq!(ran, Vec::<String>::new());
    let safe = LINES.iter().filter(|it| classify(it).danger() == Danger::Safe).count();
    assert!(safe >= 26, "only {safe} of the lines are safe");
    assert_eq!(answered, safe, "all of them run where no setting names a program");
    for (folder, key) in [
        (".", "core.fsmonitor"),
        (".", "diff.d.textconv"),
        (".", "diff.d.command"),
        (".", "diff.external"),
        (".", "gpg.program"),
        (".", "filter.f.clean"),
        (".", "filter.f.process"),
        ("module", "filter.f.clean"),
    ] {
        let program = here.program(&format!("{folder}/{key}"));
        here.git(folder, &["config", key, &program]);
        here.git(folder, &["config", "log.showSignature", "true"]);
        let (ran, _) = here.run_all();
        assert_eq!(ran, Vec::<String>::new(), "{folder}/{key}");
        here.git(folder, &["config", "--unset", key]);
    }
    let hooks = here.inside().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    script(&hooks.join("post-index-change"), "a hook", &here.marks());
    assert_eq!(here.run_all().0, Vec::<String>::new());
}

#[test]
fn a_setting_that_names_a_program_is_named_and_a_person_decides() {
    let here = Here::new();
    here.repository();
    for (folder, key, value) in [
        (".", "filter.f.clean", "cat"),
        (".", "filter.f.smudge", "cat"),
        (".", "diff.d.textconv", "cat"),
        (".", "Diff.External", "cat"),
        (".", "gpg.ssh.program", "cat"),
        (".", "hook.x.command", "cat"),
        (".", "core.worktree", "/"),
        ("module", "filter.f.clean", "cat"),
    ] {
        here.git(folder, &["config", key, value]);
        let refused = here.refused("git status").unwrap_or_else(|| panic!("{key}: it ran"));
        assert!(refused.contains(&format!("`{}`", key.to_lowercase())), "{refused}");
        assert!(refused.contains("`outside`"), "{refused}");
        here.git(folder, &["config", "--unset", key]);
    }
    // What is included is a setting too, and so is what one work tree has.
    fs::write(here.inside().join("more"), "[filter \"f\"]\n\tclean = cat\n").unwrap();
    here.git(".", &["config", "include.path", "../more"]);
    assert!(here.refused("git diff").is_some());
    here.git(".", &["config", "--unset", "include.path"]);
    here.git(".", &["config", "extensions.worktreeConfig", "true"]);
    here.git(".", &["config", "--worktree", "filter.f.clean", "cat"]);
    assert!(here.refused("git diff").is_some());
    here.git(".", &["config", "--worktree", "--unset", "filter.f.clean"]);
    // What large files are stored by.
    here.git(".", &["config", "filter.lfs.clean", "git-lfs clean -- %f"]);
    assert_eq!(here.refused("git diff"), None);
    here.git(".", &["config", "filter.lfs.clean", "git-lfs clean -- %f; x"]);
    assert!(here.refused("git diff").is_some());
    let input = json!({ "command": "git diff", "outside": true }).to_string();
    let policy = Policy::builder().base(here.inside()).commands(ShellReader);
    let executor = Executor::builder(Registry::of([BASH]).unwrap()).policy(policy);
    let workspace = Workspace::open(here.inside()).unwrap();
    let executor = executor.service(workspace).service(Shell::new(supervisor())).build().unwrap();
    let asked = runtime().block_on(executor.call(&Call::new("bash", input.as_str())));
    assert_eq!(asked.error().unwrap().kind(), "approval_required", "{}", asked.text());
}

#[test]
fn a_toolchain_of_the_folder_is_not_started() {
    let here = Here::new();
    let toolchain = here.inside().join("rust-toolchain.toml");
    fs::create_dir_all(here.inside().join("sub")).unwrap();
    fs::write(&toolchain, "[toolchain]\nchannel = \"stable\"\n").unwrap();
    assert_eq!(here.refused("cargo --version || true"), None);
    for text in
        ["[toolchain]\npath = \"evil\"\n", "[toolchain]\n\"p\\u0061th\" = 'evil'\n", "/evil"]
    {
        fs::write(&toolchain, text).unwrap();
        for line in ["cargo --version", "rustc --version", "cd sub && cargo -V", "ls; rustc -V"] {
            let refused = here.refused(line).unwrap_or_else(|| panic!("{line}: it ran"));
            assert!(refused.contains("rust-toolchain.toml"), "{refused}");
        }
    }
}

#[test]
fn a_safe_line_reads_no_secrets_below_a_folder_and_none_that_a_pattern_fits() {
    let here = Here::new();
    let inside = here.inside();
    for folder in ["src/deep/.config/gcloud", "clean", "flags", "more/.git"] {
        fs::create_dir_all(inside.join(folder)).unwrap();
    }
    for file in ["clean/a.rs", "clean/.env.example", "src/a.rs", "flags/a", "more/a", "link"] {
        fs::write(inside.join(file), "x\n").unwrap();
    }
    let lines = [
        ("grep -rn x @", true),
        ("grep -rn x @/", true),
        ("grep -r -e x -- @", true),
        ("cd @ && grep -r x deep", true),
        ("diff @ clean", false),
        ("diff -r clean @", true),
        ("cat @/*", false),
        ("cd @ && wc -l *", false),
        ("for f in @/*; do head -3 \"$f\"; done", false),
        ("bash -c 'cat @/*'", false),
    ];
    for (file, is_deep) in [
        ("src/prod.env", false),
        ("src/.env", false),
        ("src/deep/server.pem", true),
        ("src/deep/a\nb.pem", true),
        ("src/deep/.config/gcloud/x", true),
        ("src/deep/WP-CONFIG.php", true),
    ] {
        fs::write(inside.join(file), "x\n").unwrap();
        for (line, goes_deep) in lines {
            let is_hidden = file == "src/.env" && !line.starts_with("diff") && !goes_deep;
            let only_deep = line.ends_with("deep") && !is_deep || is_deep && !goes_deep;
            if is_hidden || only_deep {
                continue;
            }
            let line = line.replace('@', "src");
            let refused = here.refused(&line).unwrap_or_else(|| panic!("{line}: it read {file:?}"));
            assert!(refused.contains("may hold secrets"), "{refused}");
        }
        fs::remove_file(inside.join(file)).unwrap();
    }
    for (line, _) in lines {
        if !line.contains("deep") {
            let line = line.replace('@', "clean");
            assert_eq!(here.refused(&line), None, "{line}");
        }
    }
    fs::create_dir_all(inside.join("src/skip")).unwrap();
    fs::write(inside.join("src/skip/b.key"), "x\n").unwrap();
    for line in [
        "grep -rn --exclude-dir=skip x src",
        "grep -rn --exclude='*.key' x src",
        "grep -rn --include='*.rs' x src",
        "grep -rn --exclude-dir=.git --exclude-dir skip x .",
        "cat src/*.rs",
    ] {
        assert_eq!(here.refused(line), None, "{line}");
    }
    assert!(here.refused("grep -rn --exclude-dir=.git x .").is_some());
    assert!(here.refused("grep -rn --exclude-dir=. x src").is_some());
    fs::write(inside.join("more/.git/config"), "x\n").unwrap();
    assert!(here.refused("grep -rn x more").is_some());
    // A name that looks like a flag is one to the program.
    fs::write(inside.join("flags/--files0-from=a"), "x\n").unwrap();
    let refused = here.refused("cd flags && du -sh *").unwrap();
    assert!(refused.contains("looks like a flag"), "{refused}");
    assert_eq!(here.refused("cd clean && du -sh *"), None);
    // Where there is nothing to look at, the line says what is wrong.
    assert_eq!(here.refused("grep -r x none; cat none/*"), None);
}

/// Printed as skipped where ripgrep is not installed.
#[test]
fn ripgrep_reads_no_secrets_but_may_where_it_is_said_to_leave_them_out() {
    if Command::new("rg").arg("--version").output().is_err() {
        return println!("skipped: no rg");
    }
    let here = Here::new();
    fs::write(here.inside().join("a.rs"), "x\n").unwrap();
    fs::write(here.inside().join(".env"), "x\n").unwrap();
    assert_eq!(here.refused("rg x"), None, "it leaves hidden files out");
    fs::write(here.inside().join("prod.env"), "x\n").unwrap();
    assert!(here.refused("rg x").is_some() && here.refused("rg x .").is_some());
    assert_eq!(here.refused("rg -g '!*.env' x"), None);
    assert_eq!(here.refused("rg -trust x"), None);
    fs::write(here.inside().join(".ignore"), "*.env\n").unwrap();
    assert_eq!(here.refused("rg x"), None);
}

fn script(path: &Path, name: &str, marks: &Path) -> String {
    let text = format!("#!/bin/sh\necho {name} >> '{}'\ncat \"$1\" 2>/dev/null\n", marks.display());
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}
