//! What goes wrong around a write: a full disk, a process that is killed, a file that changes while it is read, and what a
//! person sees before it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use toolwright::approval::ApproverKey;
use toolwright::journal::{Journal, MemoryStore};
use toolwright::{Call, Executor, OnNoApprover, Outcome, Registry};
use toolwright_toolbox::{FILES, Workspace};

use crate::support::{Box, names, runtime};

/// In which folder a process that a test starts plays its part; the tests run no such part themselves.
const FOLDER: &str = "TOOLBOX_TEST_FOLDER";

/// This test in a process of its own, with a folder to work in.
fn child(test: &str, folder: &Path, around: &[&str]) -> Command {
    let own = env::current_exe().unwrap();
    let mut words: Vec<PathBuf> = around.iter().map(PathBuf::from).collect();
    words.push(own);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args(["--exact", test, "--nocapture"]).env(FOLDER, folder);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn tools_in(folder: &Path) -> Executor {
    let executor = Executor::builder(Registry::of(FILES).unwrap()).unrestricted();
    executor.service(Workspace::open(folder).unwrap()).build().unwrap()
}

fn call(executor: &Executor, tool: &str, input: &Value) -> Result<String, String> {
    let answer = runtime().block_on(executor.call(&Call::new(tool, input.to_string().as_str())));
    match answer.error() {
        Some(error) => Err(error.kind().to_owned()),
        None => Ok(answer.text().into_owned()),
    }
}

/// Replaces both lines of two files.
fn both(from: char, to: char) -> Value {
    let of =
        |name: &str| format!("--- a/{name}\n+++ b/{name}\n@@ -1,2 +1,2 @@\n one\n-{from}\n+{to}\n");
    json!({"patch": of("a") + &of("b")})
}

/// The disk has less and less room: each step of a write is the one that fails.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_at_any_step_leaves_every_file_as_it_was() {
    let test = "faults::a_disk_that_is_full_at_any_step_leaves_every_file_as_it_was";
    if let Some(folder) = env::var_os(FOLDER) {
        return on_a_small_disk(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    // A file system of its own, which only this process sees.
    let script = "mount -t tmpfs -o size=256k,nr_inodes=12 none \"$TOOLBOX_TEST_FOLDER\" || exit 75; exec \"$0\" \"$@\"";
    let ran = child(test, folder.path(), &["unshare", "-rm", "sh", "-c", script]).output().unwrap();
    let printed = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    if ran.status.code() == Some(75) || printed.contains("unshare failed") {
        eprintln!("no file system can be mounted here, so nothing was shown: {printed}");
        return;
    }
    assert!(ran.status.success() && printed.contains("a full disk was met"), "{printed}");
}

#[cfg(target_os = "linux")]
fn on_a_small_disk(folder: &Path) {
    let executor = tools_in(folder);
    let old = format!("one\n{}\n", "o".repeat(40_000));
    let new = old.replace('o', "n");
    let mut met = 0;
    for filler in (0..140_000).step_by(4096) {
        fs::write(folder.join("a"), &old).unwrap();
        fs::write(folder.join("b"), &old).unwrap();
        fs::write(folder.join("filler"), vec![b'x'; filler]).unwrap();
        let patch = |name: &str| {
            let (old, new) = (old.lines().nth(1).unwrap(), new.lines().nth(1).unwrap());
            format!("--- a/{name}\n+++ b/{name}\n@@ -2 +2 @@\n-{old}\n+{new}\n")
        };
        for (tool, input) in [
            ("write_file", json!({"path": "a", "content": new})),
            ("write_file", json!({"path": "new/deep/file", "content": new})),
            ("apply_patch", json!({"patch": patch("a") + &patch("b")})),
        ] {
            if let Err(kind) = call(&executor, tool, &input) {
                assert_eq!(kind, "disk_full", "{tool}");
                met += 1;
                assert_eq!(names(folder), ["a", "b", "filler"], "{tool} beside {filler} bytes");
                for name in ["a", "b"] {
                    assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), old, "{tool}");
                }
            }
            let _ = fs::remove_dir_all(folder.join("new"));
            fs::write(folder.join("a"), &old).unwrap();
            fs::write(folder.join("b"), &old).unwrap();
        }
    }
    assert!(met > 3, "the disk was never full");
    // No names are left, rather than no room.
    fs::remove_file(folder.join("filler")).unwrap();
    for number in 0..20 {
        let _ = fs::write(folder.join(format!("name{number}")), "");
    }
    let before = names(folder);
    assert_eq!(
        call(&executor, "write_file", &json!({"path": "a", "content": "x"})),
        Err("disk_full".to_owned())
    );
    assert_eq!((fs::read_to_string(folder.join("a")).unwrap(), names(folder)), (old, before));
    println!("a full disk was met {met} times");
}

/// S1.26: a process is killed at a moment of its own while it writes; each file is the old or the new one, and whole.
#[test]
fn a_process_that_is_killed_leaves_each_file_whole() {
    let test = "faults::a_process_that_is_killed_leaves_each_file_whole";
    let whole = ["one\no\n", "one\nn\n"];
    if let Some(folder) = env::var_os(FOLDER) {
        let executor = tools_in(Path::new(&folder));
        loop {
            for content in whole {
                call(&executor, "write_file", &json!({"path": "a", "content": content})).unwrap();
                call(&executor, "write_file", &json!({"path": "b", "content": content})).unwrap();
            }
            call(&executor, "apply_patch", &both('n', 'o')).unwrap();
        }
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        fs::write(folder.path().join(name), whole[0]).unwrap();
    }
    let mut seen = [false; 2];
    for round in 0..12_u64 {
        let mut writing = child(test, folder.path(), &[]).spawn().unwrap();
        thread::sleep(Duration::from_micros(40_000 + round * 3_711));
        writing.kill().unwrap();
        writing.wait().unwrap();
        for name in ["a", "b"] {
            let found = fs::read_to_string(folder.path().join(name)).unwrap();
            let which = whole.iter().position(|it| *it == found);
            seen[which.unwrap_or_else(|| panic!("`{name}` is {found:?}"))] = true;
        }
        // What a process leaves behind is no file that a tool shows.
        let executor = tools_in(folder.path());
        assert_eq!(call(&executor, "list_files", &json!({})).unwrap(), "a\nb");
    }
    assert!(seen[0], "{seen:?}");
}

#[test]
fn a_file_that_grows_shrinks_or_vanishes_while_it_is_read_is_read_or_refused() {
    let tools = Box::files();
    let done = AtomicBool::new(false);
    tools.put("a", "line\n");
    thread::scope(|scope| {
        let changing = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for size in [0, 300_000, 10, 11 << 20] {
                    let _ = fs::File::create(tools.path("a")).and_then(|file| file.set_len(size));
                }
                let _ = fs::remove_file(tools.path("a"));
                tools.put("a", "line\n");
            }
        });
        let mut kinds = Vec::new();
        for _ in 0..150 {
            for (tool, input) in [
                ("read_file", json!({"path": "a"})),
                ("edit_file", json!({"path": "a", "old_string": "line", "new_string": "l"})),
                ("grep", json!({"pattern": "line"})),
                ("list_files", json!({"sizes": true})),
            ] {
                match call(&tools.executor, tool, &input) {
                    Ok(_) => kinds.push("ok".to_owned()),
                    Err(kind) => kinds.push(kind),
                }
            }
        }
        done.store(true, Ordering::Relaxed);
        changing.join().unwrap();
        kinds.sort();
        kinds.dedup();
        let known =
            ["binary_file", "file_changed", "file_too_large", "not_found", "ok", "text_not_found"];
        assert!(kinds.iter().all(|kind| known.contains(&kind.as_str())), "{kinds:?}");
        assert!(kinds.len() > 2, "{kinds:?}: no race");
    });
    let left = tools.names(".");
    assert!(left.iter().all(|name| name == "a"), "{left:?}");
}

/// What a person is shown of a call that waits for a decision.
fn preview(tools: &Box, tool: &str, input: &Value) -> String {
    let executor = Executor::builder(Registry::of(FILES).unwrap())
        .service(Workspace::open(tools.path("")).unwrap())
        .journal(
            Journal::new(MemoryStore::new())
                .trust("ada", ApproverKey::from_seed("ada", [1; 32]).unwrap().public())
                .on_no_approver(OnNoApprover::Park),
        )
        .build()
        .unwrap();
    let outcome = runtime().block_on(executor.submit(&Call::new(tool, input.to_string().as_str())));
    let Outcome::Suspended(suspended) = outcome else { panic!("{outcome:?}") };
    suspended.request.unwrap().preview.unwrap()
}

#[test]
fn a_person_is_shown_the_diff_before_a_file_is_written() {
    let tools = Box::files();
    tools.put("a", "one\ntwo\n");
    let diff = "@@ -1,2 +1,2 @@\n one\n-two\n+2";
    let patch = "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
    for (tool, input, shown) in [
        ("write_file", json!({"path": "a", "content": "one\n2\n"}), format!("`a`\n{diff}")),
        ("write_file", json!({"path": "b", "content": "x\n"}), "new file `b`\nx\n".to_owned()),
        (
            "edit_file",
            json!({"path": "a", "old_string": "two", "new_string": "2"}),
            format!("`a`\n{diff}"),
        ),
        (
            "patch_lines",
            json!({"path": "a", "patches": [{"start_line": 2, "end_line": 2, "content": "2"}]}),
            format!("`a`\n{diff}"),
        ),
    ] {
        assert_eq!(preview(&tools, tool, &input), shown, "{tool}");
    }
    let shown = preview(&tools, "apply_patch", &json!({"patch": patch}));
    assert!(shown.starts_with("changed `a`, +1 -1; hash ") && shown.ends_with(diff), "{shown}");
    let shown = preview(
        &tools,
        "edit_file",
        &json!({"path": "a", "old_string": "three", "new_string": "3"}),
    );
    assert!(shown.contains("does not contain the text of `old_string`"), "{shown}");
    assert_eq!(tools.text("a"), "one\ntwo\n");
}
