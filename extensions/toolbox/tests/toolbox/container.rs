//! A workspace within a container: the same file tools give the same answers there as in a folder of this machine, through
//! `docker exec` alone. An engine stands for it that takes these arguments.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright::policy::{Mode, Policy};
use toolwright::{Answer, Call, Executor, ExecutorBuilder, Registry};
use toolwright_toolbox::{Container, FILES, Local, PROCESS, ToolExecutor, Workspace};

use crate::support::runtime;

/// Takes the arguments of `docker exec`, and runs the program in a folder that stands for the container.
const ENGINE: &str = r#"#!/bin/sh
[ "$1" = exec ] && [ "$2" = --workdir ] || exit 125
folder=$3; shift 3
if [ "$1" = --interactive ]; then shift; else exec </dev/null; fi
while [ "$1" = --env ]; do export "$2"; shift 2; done
[ "$1" = build-1 ] || { echo "Error: No such container: $1" >&2; exit 1; }
shift
cd "INSIDE${folder#/site}" || exit 126
BEFORE
exec "$@"
"#;

/// A folder of this machine, and one that an engine shows as `/site` of a container.
struct Both {
    around: TempDir,
}

impl Both {
    fn new() -> Self {
        let around = tempfile::tempdir().unwrap();
        for folder in ["here", "there"] {
            fs::create_dir(around.path().join(folder)).unwrap();
        }
        Self { around }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.around.path().join(name)
    }

    /// The container, whose engine runs a line of shell before each program.
    fn container(&self, before: &str) -> Container {
        let inside = self.at("there").canonicalize().unwrap();
        let engine = self.at("engine");
        let script = ENGINE.replace("INSIDE", inside.to_str().unwrap());
        fs::write(&engine, script.replace("BEFORE", before)).unwrap();
        fs::set_permissions(&engine, fs::Permissions::from_mode(0o755)).unwrap();
        Container::new(&engine, "build-1").at("/site")
    }

    fn here(&self) -> Executor {
        executor(Workspace::open(self.at("here")).unwrap())
    }

    fn there(&self) -> Executor {
        executor(Workspace::within(self.container("")).unwrap())
    }

    /// Makes a file, or another thing, in both.
    fn each(&self, make: impl Fn(&Path)) {
        for folder in ["here", "there"] {
            make(&self.at(folder));
        }
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        self.each(|folder| {
            fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
            fs::write(folder.join(name), content.as_ref()).unwrap();
        });
    }

    /// Calls a tool in both, and returns the answer of the container, which has to be that of this machine.
    fn alike(&self, tool: &str, input: &Value) -> Answer {
        let (own, others) = (call(&self.here(), tool, input), call(&self.there(), tool, input));
        assert_eq!(others.text(), own.text(), "{tool} {input}");
        assert_eq!(kind(&others), kind(&own), "{tool} {input}");
        assert_eq!(contents(&self.at("there")), contents(&self.at("here")), "{tool} {input}");
        others
    }
}

fn executor(workspace: Workspace) -> Executor {
    let registry = Registry::of(FILES.into_iter().chain(PROCESS)).unwrap();
    Executor::builder(registry).unrestricted().service(workspace).build().unwrap()
}

fn call(executor: &Executor, tool: &str, input: &Value) -> Answer {
    runtime().block_on(executor.call(&Call::new(tool, input.to_string().as_str())))
}

fn kind(answer: &Answer) -> Option<String> {
    answer.error().map(|error| error.kind().to_owned())
}

/// Every file below a folder with its mode and content; nothing temporary is among them.
fn contents(folder: &Path) -> Vec<(PathBuf, u32, Vec<u8>)> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let content = match metadata.is_file() {
                true => fs::read(&path).unwrap_or_default(),
                false => Vec::new(),
            };
            let name = path.strip_prefix(folder).unwrap().to_owned();
            assert!(!name.to_string_lossy().contains(".toolwright-"), "{name:?}");
            found.push((name, metadata.permissions().mode(), content));
            if metadata.is_dir() {
                open.push(path);
            }
        }
    }
    found.sort();
    found
}

/// `S4.11`, `S4.3`: the file tools have no way to a file but the executor of their workspace.
#[test]
fn the_same_file_tools_work_here_and_in_a_container() {
    let both = Both::new();
    let calls = [
        ("write_file", json!({"path": "src/new/a.txt", "content": "one\ntwo\n"})),
        ("write_file", json!({"path": "-n $(touch x) 'q\" \\.txt", "content": "odd"})),
        ("read_file", json!({"path": "-n $(touch x) 'q\" \\.txt"})),
        ("read_file", json!({"path": "src/new/a.txt", "offset": 2})),
        ("edit_file", json!({"path": "src/new/a.txt", "old_string": "two", "new_string": "$2"})),
        ("write_file", json!({"path": "src/new/a.txt", "content": "x", "expected_hash": "none"})),
        (
            "write_file",
            json!({"path": "src/new/a.txt", "content": "x", "expected_hash": "0123456789abcdef"}),
        ),
        ("write_file", json!({"path": "src/new/a.txt", "content": ""})),
        ("read_file", json!({"path": "src/new/a.txt"})),
        ("read_file", json!({"path": "src/missing"})),
        ("read_file", json!({"path": "src"})),
        ("write_file", json!({"path": "src", "content": ""})),
        ("read_file", json!({"path": "../outside"})),
        ("write_file", json!({"path": "/etc/passwd", "content": ""})),
        ("list_files", json!({"path": "src/new/a.txt"})),
        ("list_files", json!({"path": "nowhere"})),
    ];
    for (tool, input) in calls {
        both.alike(tool, &input);
    }
    assert_eq!(fs::read_to_string(both.at("there/src/new/a.txt")).unwrap(), "");
    let answer = call(&both.there(), "read_file", &json!({"path": "src/../../here/x"}));
    assert_eq!(kind(&answer).as_deref(), Some("outside_workspace"));
}

#[test]
fn bytes_and_modes_of_a_file_in_a_container_are_preserved() {
    let both = Both::new();
    both.file("latin", b"caf\xe9\r\nno end");
    both.file("script", "#!/bin/sh\n");
    both.file("pinned", "x");
    let large: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
    both.file("binary", &large);
    let mode = |name: &str, mode| {
        both.each(|it| {
            fs::set_permissions(it.join(name), fs::Permissions::from_mode(mode)).unwrap();
        });
    };
    mode("script", 0o751);
    mode("pinned", 0o444);
    both.alike("edit_file", &json!({"path": "latin", "old_string": "no", "new_string": "thé"}));
    both.alike(
        "edit_file",
        &json!({"path": "script", "old_string": "sh\n", "new_string": "bash\n"}),
    );
    let refused = both.alike("write_file", &json!({"path": "pinned", "content": "y"}));
    assert_eq!(kind(&refused).as_deref(), Some("read_only"));
    assert_eq!(fs::read(both.at("there/latin")).unwrap(), b"caf\xe9\r\nth\xe9 end");
    let workspace = Workspace::within(both.container("")).unwrap();
    assert_eq!(workspace.read("binary").unwrap(), large);
    workspace.write("copy", &large).unwrap();
    assert_eq!(fs::read(both.at("there/copy")).unwrap(), large);
    both.file("huge", vec![b'x'; (10 << 20) + 100]);
    let here = Workspace::open(both.at("here")).unwrap();
    let (own, others) = (here.read("huge").unwrap_err(), workspace.read("huge").unwrap_err());
    assert_eq!((others.kind(), others.message()), ("file_too_large", own.message()));
    assert!(workspace.exists("copy").unwrap() && !workspace.exists("copy/x").unwrap());
}

#[test]
fn a_list_of_a_container_leaves_out_what_git_ignores() {
    let both = Both::new();
    for (name, content) in [
        (".gitignore", "target\n*.log\n!keep.log\n/top\n"),
        (".git/info/exclude", "private\n"),
        (".git/config", ""),
        (".hidden/file", ""),
        ("a.log", ""),
        ("keep.log", "12345"),
        ("line\nend", ""),
        ("private", ""),
        (".ignore", "never.log\n"),
        ("src/.gitignore", "!deep.log\n!never.log\ngenerated/\n"),
        ("src/never.log", ""),
        ("src/.ignore", "secret.txt\n"),
        ("src/deep.log", ""),
        ("src/generated/x", ""),
        ("src/lib.rs", "x"),
        ("src/secret.txt", ""),
        ("src/top", ""),
        ("target/a/b", "1"),
        ("target/.gitignore", "c\n"),
        ("target/c", "1"),
        ("target/x.log", "1"),
        ("top", ""),
        ("z/y/x/w/v", ""),
    ] {
        both.file(name, content);
    }
    both.each(|folder| symlink("src/lib.rs", folder.join("link")).unwrap());
    for input in [
        json!({}),
        json!({"sizes": true, "depth": 9}),
        json!({"include_ignored": true, "depth": 9}),
        json!({"glob": "*.{rs,log}", "depth": 5}),
        json!({"path": "src", "limit": 2}),
        json!({"path": "src/generated"}),
        json!({"path": "target"}),
        json!({"depth": 1}),
    ] {
        both.alike("list_files", &input);
    }
    let listed = both.alike("list_files", &json!({"depth": 2}));
    assert!(listed.text().contains("keep.log\n") && !listed.text().contains("a.log"));
    both.alike("glob", &json!({"pattern": "z/**"}));
    both.alike("glob", &json!({"pattern": "**/lib.*"}));
}

#[test]
fn searches_and_patches_work_in_a_container() {
    let both = Both::new();
    both.file("a.txt", "one\ntwo\nthree\n");
    both.file("sub/b.txt", "two\n");
    both.file(".env", "two\n");
    both.file("c.bin", b"two\0");
    both.alike("grep", &json!({"pattern": "tw.", "path": "a.txt"}));
    both.alike("grep", &json!({"pattern": "two", "mode": "count"}));
    both.alike("grep", &json!({"pattern": "two", "include_ignored": true, "context_lines": 1}));
    both.alike(
        "patch_lines",
        &json!({"path": "sub/b.txt", "patches": [{"start_line": 1, "end_line": 1, "content": "2"}]}),
    );
    let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n\
                 --- /dev/null\n+++ b/new/c\n@@ -0,0 +1 @@\n+c\n\
                 --- a/sub/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-2\n";
    both.alike("apply_patch", &json!({ "patch": patch }));
    assert!(!both.at("there/sub/b.txt").exists());
    assert_eq!(fs::read_to_string(both.at("there/new/c")).unwrap(), "c\n");
    let missed = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-1\n+9\n--- a/new/c\n+++ b/new/c\n@@ -1 +1 @@\n-d\n+e\n";
    let answer = both.alike("apply_patch", &json!({ "patch": missed }));
    assert!(answer.is_error());
}

/// What somebody else does between the upload and the rename, and a rename that fails, as the script in the container sees it.
#[test]
fn of_several_files_of_a_container_all_are_changed_or_none() {
    let patch = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+A\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n\
                 --- /dev/null\n+++ b/new/deep\n@@ -0,0 +1 @@\n+made\n--- a/z\n+++ b/z\n@@ -1 +1 @@\n-z\n+Z\n";
    // The script that commits is the one with functions; `mv` of the last file fails in the second case.
    let commits = r#"case "$*" in *"put()"*) "#;
    for (before, expected, z) in [
        ("printf 'other\\n' >z;; esac", "file_changed", "other\n"),
        (
            "mkdir -p ../bin; printf '#!/bin/sh\\ncase \"$3\" in ./z) echo broken >&2; exit 1;; esac\\nexec /bin/mv \"$@\"\\n' >../bin/mv; chmod +x ../bin/mv; PATH=$PWD/../bin:$PATH; export PATH;; esac",
            "container_failed",
            "z\n",
        ),
    ] {
        let both = Both::new();
        for name in ["a", "gone", "z"] {
            both.file(name, format!("{name}\n"));
        }
        let container = both.container(&format!("{commits}{before}"));
        let there = executor(Workspace::within(container).unwrap());
        let mut untouched = contents(&both.at("there"));
        untouched[2].2 = z.as_bytes().to_vec();
        let answer = call(&there, "apply_patch", &json!({ "patch": patch }));
        assert_eq!(kind(&answer).as_deref(), Some(expected), "{}", answer.text());
        assert_eq!(contents(&both.at("there")), untouched);
    }
}

#[test]
fn a_file_that_cannot_be_restored_has_its_earlier_content_beside_it() {
    let patch = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+A\n--- a/z\n+++ b/z\n@@ -1 +1 @@\n-z\n+Z\n";
    // The first `mv` changes `a`; the second, which is to change `z`, and all later ones fail.
    let mv = "printf '#!/bin/sh\n[ -e ../moved ] && exit 1\n: >../moved\nexec /bin/mv \"$@\"\n' >../bin/mv";
    let before = format!(
        r#"case "$*" in *"put()"*) mkdir -p ../bin; {mv}; chmod +x ../bin/mv; PATH=$PWD/../bin:$PATH; export PATH;; esac"#
    );
    let both = Both::new();
    both.file("a", "a\n");
    both.file("z", "z\n");
    let there = executor(Workspace::within(both.container(&before)).unwrap());
    let answer = call(&there, "apply_patch", &json!({ "patch": patch }));
    assert_eq!(kind(&answer).as_deref(), Some("partly_changed"), "{}", answer.text());
    assert!(answer.text().contains("`.toolwright-"), "{}", answer.text());
    let files = fs::read_dir(both.at("there")).unwrap();
    let texts: Vec<_> = files.map(|it| fs::read_to_string(it.unwrap().path()).unwrap()).collect();
    assert!(texts.contains(&"a\n".to_owned()), "{texts:?}");
}

#[test]
fn a_container_that_never_accepts_a_temporary_name_is_an_error() {
    let both = Both::new();
    let container = both.container("exit 51");
    let there = executor(Workspace::within(container).unwrap());
    let answer = call(&there, "write_file", &json!({"path": "a", "content": "x"}));
    assert_eq!(kind(&answer).as_deref(), Some("container_failed"), "{}", answer.text());
}

#[test]
fn what_does_not_work_in_a_container_is_an_error_that_says_so() {
    let both = Both::new();
    both.file("a", "a");
    both.each(|folder| symlink("a", folder.join("link")).unwrap());
    let answer = call(&both.there(), "write_file", &json!({"path": "link", "content": "x"}));
    assert_eq!(kind(&answer).as_deref(), Some("is_a_link"), "{}", answer.text());
    assert_eq!(fs::read_to_string(both.at("there/a")).unwrap(), "a");

    let other = both.container("");
    let missing = Container::new(both.at("engine"), "build-2").at("/site");
    let unstarted = Container::new(both.at("no-engine"), "build-1");
    for (container, expected, words) in [
        (missing, "container_failed", "No such container: build-2"),
        (unstarted, "container_unreachable", "cannot be reached"),
    ] {
        let executor = executor(Workspace::within(container).unwrap());
        for (tool, input) in [
            ("read_file", json!({"path": "a"})),
            ("list_files", json!({})),
            ("write_file", json!({"path": "a", "content": "b"})),
        ] {
            let answer = call(&executor, tool, &input);
            assert_eq!(kind(&answer).as_deref(), Some(expected), "{tool}: {}", answer.text());
            assert!(answer.text().contains(words), "{tool}: {}", answer.text());
        }
    }
    assert!(Workspace::within(other.at("relative")).is_err());
    let error = Workspace::within(Local).unwrap_err();
    assert!(error.to_string().contains("open the folder of this machine"), "{error}");
    assert!(Local.files().is_err());
}

/// A program of such a workspace runs beside its files, though this machine has no such folder.
#[test]
fn programs_of_a_workspace_in_a_container_run_where_its_files_are() {
    let both = Both::new();
    let there = both.there();
    call(&there, "write_file", &json!({"path": "sub/a", "content": "text"}));
    let input = json!({"program": "cat", "args": ["a"], "folder": "sub"});
    let ran = call(&there, "run_command", &input);
    assert!(!ran.is_error(), "{}", ran.text());
    assert!(ran.text().contains(r#""output":"text""#), "{}", ran.text());
    let missing = call(&there, "run_command", &json!({"program": "true", "folder": "none"}));
    assert_eq!(kind(&missing).as_deref(), Some("not_found"));
}

#[test]
fn a_protection_holds_in_a_container() {
    let both = Both::new();
    let workspace = Workspace::within(both.container("")).unwrap();
    let policy = Policy::builder().mode(Mode::Unrestricted).base(workspace.root());
    let builder: ExecutorBuilder = Executor::builder(Registry::of(FILES).unwrap());
    let executor = builder.policy(policy).service(workspace).build().unwrap();
    for (path, is_refused) in [(".git/hooks/pre-commit", true), (".env", true), ("plain", false)] {
        let answer = call(&executor, "write_file", &json!({"path": path, "content": "x"}));
        assert_eq!(answer.is_error(), is_refused, "{path}: {}", answer.text());
        assert_eq!(both.at("there").join(path).exists(), !is_refused, "{path}");
    }
}

/// What an undo would need, a container does not say; so no change is made that cannot be recorded.
#[test]
fn a_change_log_refuses_what_it_cannot_record() {
    use std::sync::Arc;
    use toolwright_toolbox::ChangeLog;

    let both = Both::new();
    let workspace = Arc::new(Workspace::within(both.container("")).unwrap());
    let log = ChangeLog::open(both.at("changes.db"), Arc::clone(&workspace)).unwrap();
    let executor = Executor::builder(Registry::of(FILES).unwrap()).unrestricted();
    let executor = executor.middleware(log).service_arc(workspace).build().unwrap();
    let answer = call(&executor, "write_file", &json!({"path": "a", "content": "x"}));
    assert!(answer.is_error() && answer.text().contains("in a container"), "{}", answer.text());
    assert!(!both.at("there/a").exists());
}

/// `S4.11`: no file of the tools names what opens files or starts programs of this machine.
#[test]
fn no_file_or_command_tool_opens_files_or_starts_programs_itself() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let tools = ["process/bash.rs", "process/run_command.rs", "process/cli_tool.rs"];
    let mut open: Vec<PathBuf> = tools
        .iter()
        .chain(&["files", "files.rs", "syntax", "syntax.rs", "shell", "shell.rs"])
        .map(|it| sources.join(it))
        .collect();
    let mut seen = 0;
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|it| it.unwrap().path()));
            continue;
        }
        if path.extension().is_none_or(|it| it != "rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for word in ["std::fs", "tokio::fs", "cap_std", "Command::new", "File::open"] {
            assert!(!text.contains(word), "{}: {word}", path.display());
        }
        seen += 1;
    }
    assert!(seen > 30, "only {seen} files were looked at");
}

#[test]
fn a_real_engine_holds_a_workspace() {
    let run = |arguments: &[&str]| std::process::Command::new("docker").args(arguments).output();
    let name = format!("toolwright-{}", std::process::id());
    let started = run(&["run", "--detach", "--rm", "--name", &name, "alpine", "sleep", "120"]);
    match started {
        Ok(output) if output.status.success() => {}
        Ok(output) => return println!("skipped: {}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => return println!("skipped: docker: {error}"),
    }
    let there = executor(Workspace::within(Container::new("docker", &name).at("/tmp")).unwrap());
    for (tool, input) in [
        ("write_file", json!({"path": "new/a.txt", "content": "one\n"})),
        ("edit_file", json!({"path": "new/a.txt", "old_string": "one", "new_string": "two"})),
        ("list_files", json!({})),
        ("grep", json!({"pattern": "two"})),
    ] {
        let answer = call(&there, tool, &input);
        assert!(!answer.is_error(), "{tool}: {}", answer.text());
    }
    let read = call(&there, "read_file", &json!({"path": "new/a.txt"}));
    assert!(read.text().contains("two"), "{}", read.text());
    run(&["kill", &name]).unwrap();
}
