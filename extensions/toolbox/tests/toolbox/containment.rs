//! No path leads out of the workspace, whatever it is called and whatever is linked or moved meanwhile.

use std::fs;
use std::os::unix::fs::symlink;
#[cfg(target_os = "linux")]
use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Box, names, runtime};

/// A call of each tool with this path.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    let patches = json!([{"start_line": 1, "end_line": 1, "content": "new"}]);
    let mut calls = vec![
        ("read_file", json!({"path": path})),
        ("write_file", json!({"path": path, "content": "new"})),
        ("edit_file", json!({"path": path, "old_string": "secret", "new_string": "new"})),
        ("patch_lines", json!({"path": path, "patches": patches})),
        ("list_files", json!({"path": path})),
        ("glob", json!({"pattern": "**", "path": path})),
        ("grep", json!({"pattern": "secret", "path": path})),
    ];
    // What the header of a patch can name.
    if !path.trim().is_empty() && !path.contains('\0') {
        let patch = format!("--- {path}\n+++ {path}\n@@ -1 +1 @@\n-inside\n+new\n");
        calls.insert(4, ("apply_patch", json!({"patch": patch})));
    }
    calls
}

/// S4.12: paths are relative to the workspace.
#[test]
fn every_tool_refuses_a_path_that_is_absolute_or_goes_up() {
    let tools = Box::files();
    tools.put("a/b", "");
    let absolute = tools.outside().join("secret");
    let paths = ["/etc/passwd", absolute.to_str().unwrap(), "..", "../outside/secret", "a/../a/b"];
    for path in paths {
        for (tool, input) in calls(path) {
            let answer = tools.call(tool, input);
            let error =
                answer.error().unwrap_or_else(|| panic!("{tool} {path}: {}", answer.text()));
            assert_eq!(error.kind(), "outside_workspace", "{tool} {path}");
            assert!(error.next_action().is_some_and(|hint| hint.contains("relative")), "{tool}");
        }
    }
    assert_eq!(names(&tools.outside()), ["secret"]);
}

#[test]
fn every_tool_refuses_a_path_that_no_file_can_have() {
    let tools = Box::files();
    let long = "a/".repeat(2049);
    for (path, words) in [
        ("", "the path is empty"),
        ("  ", "the path is empty"),
        ("a\0b", "`a\\0b` contains a NUL character"),
        (long.as_str(), "the path has 4098 bytes, expected at most 4096"),
    ] {
        for (tool, input) in calls(path) {
            let (kind, message) = tools.refused(tool, input);
            assert_eq!(kind, "invalid_input", "{tool}: {message}");
            assert!(message.starts_with(words), "{tool}: {message}");
        }
    }
}

#[test]
fn no_tool_follows_a_link_out_of_the_workspace() {
    let tools = Box::files();
    symlink(tools.outside(), tools.path("absolute")).unwrap();
    symlink("../outside", tools.path("folder")).unwrap();
    symlink("../outside/secret", tools.path("file")).unwrap();
    symlink("folder", tools.path("chain")).unwrap();
    symlink("../outside/new", tools.path("dangling")).unwrap();
    let paths = [
        "absolute",
        "absolute/secret",
        "folder",
        "folder/secret",
        "file",
        "chain/secret",
        "dangling",
    ];
    for path in paths.into_iter().chain(["folder/new", "folder/new/deep", "absolute/a/b/c"]) {
        for (tool, input) in calls(path) {
            let (kind, message) = tools.refused(tool, input);
            assert_eq!(kind, "outside_workspace", "{tool} {path}: {message}");
        }
    }
    assert_eq!(names(&tools.outside()), ["secret"]);
    assert_eq!(fs::read_to_string(tools.outside().join("secret")).unwrap(), "a secret\n");
    // A search of the whole workspace passes over them.
    assert_eq!(tools.ok("grep", json!({"pattern": "secret"})), "no line matches in `.`");
    let listed = tools.ok("list_files", json!({"depth": 9}));
    assert_eq!(listed, "absolute\nchain\ndangling\nfile\nfolder");
}

#[test]
fn a_link_that_stays_inside_is_followed_and_stays_a_link() {
    let tools = Box::files();
    tools.put("real/a.txt", "one\n");
    symlink("real", tools.path("folder")).unwrap();
    symlink("real/a.txt", tools.path("file")).unwrap();
    assert_eq!(
        tools.ok("read_file", json!({"path": "folder/a.txt"})),
        "`folder/a.txt`: 1 line\n1\tone"
    );
    assert_eq!(tools.ok("list_files", json!({"path": "folder"})), "folder/a.txt");
    tools.ok("write_file", json!({"path": "file", "content": "two\n"}));
    assert_eq!(tools.text("real/a.txt"), "two\n");
    tools.ok("edit_file", json!({"path": "file", "old_string": "two", "new_string": "three"}));
    assert_eq!(tools.text("real/a.txt"), "three\n");
    assert!(tools.path("file").symlink_metadata().unwrap().is_symlink());
    assert_eq!(tools.names("real"), ["a.txt"]);
}

#[test]
fn links_that_lead_in_a_circle_are_refused() {
    let tools = Box::files();
    symlink("two", tools.path("one")).unwrap();
    symlink("one", tools.path("two")).unwrap();
    for (tool, input) in calls("one") {
        let (kind, message) = tools.refused(tool, input);
        assert_eq!(message, "`one`: its links lead in a circle", "{tool} {kind}");
        assert_eq!(kind, "link_loop", "{tool}");
    }
}

#[test]
fn a_link_to_nothing_is_not_written_through() {
    let tools = Box::files();
    symlink("nothing", tools.path("link")).unwrap();
    let (kind, message) = tools.refused("write_file", json!({"path": "link", "content": ""}));
    assert_eq!(
        (kind.as_str(), message.as_str()),
        ("dangling_link", "`link` is a link to something that does not exist")
    );
    assert_eq!(tools.names("."), ["link"]);
}

#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let tools = Box::files();
    let fifo = tools.path("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RWXU).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(tools.path("socket")).unwrap();
    for path in ["fifo", "socket"] {
        for (tool, input) in calls(path) {
            let (kind, message) = tools.refused(tool, input);
            match tool {
                "list_files" | "glob" => assert_eq!(kind, "not_a_directory", "{tool}"),
                _ => assert_eq!(kind, "not_a_file", "{tool}"),
            }
            assert!(message.contains("expected a "), "{message}");
        }
    }
}

#[test]
fn a_fifo_among_the_files_of_a_repository_does_not_stop_a_listing() {
    let tools = Box::files();
    tools.put("sub/.git", "gitdir: x\n");
    tools.put("sub/a", "");
    fs::create_dir_all(tools.path("sub/x/info")).unwrap();
    for fifo in ["sub/x/commondir", "sub/x/info/exclude"] {
        rustix::fs::mkfifoat(rustix::fs::CWD, tools.path(fifo), rustix::fs::Mode::RWXU).unwrap();
    }
    let workspace = toolwright_toolbox::Workspace::open(tools.path("")).unwrap();
    let (send, listed) = std::sync::mpsc::channel();
    // If the listing waits for a writer of the FIFO, this thread never ends.
    std::thread::spawn(move || {
        let files = workspace.files(&toolwright::ToolContext::test(), ".", 9);
        send.send(files.unwrap())
    });
    let files = listed.recv_timeout(std::time::Duration::from_secs(20)).expect("it ends");
    assert_eq!(files, ["sub/a"]);
}

/// Ends a thread, also where the test fails.
#[cfg(target_os = "linux")]
struct Ends<'d>(&'d AtomicBool);

#[cfg(target_os = "linux")]
impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The folder and a link that leads out change places as fast as the system can, while every tool works on the name.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_becomes_a_link_meanwhile_leads_nowhere() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let tools = Box::files();
    let (folder, link) = (tools.path("folder"), tools.path("link"));
    tools.put("folder/secret", "inside\n");
    symlink("../outside", &link).unwrap();
    let done = AtomicBool::new(false);
    let (mut refused, mut answered) = (0, 0);
    thread::scope(|scope| {
        let _ends = Ends(&done);
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        // The long form has 100,000 tries: 12,500 rounds of eight tools.
        let rounds = std::env::var("TOOLBOX_RACE_ROUNDS").map_or(300, |it| it.parse().unwrap());
        for number in 0..rounds {
            for (tool, mut input) in calls("folder/secret") {
                if matches!(tool, "list_files" | "glob" | "grep") {
                    input["path"] = json!("folder");
                }
                if tool == "write_file" {
                    input["path"] = json!(format!("folder/{}", number % 10));
                }
                let answer = tools.call(tool, input);
                assert!(!answer.text().contains("a secret"), "{tool}: {}", answer.text());
                if answer.is_error() { refused += 1 } else { answered += 1 }
            }
        }
    });
    assert_eq!(names(&tools.outside()), ["secret"]);
    assert_eq!(fs::read_to_string(tools.outside().join("secret")).unwrap(), "a secret\n");
    assert!(refused > 0 && answered > 0, "{refused} refused, {answered} answered: no race");
}

/// S4.12.
#[test]
fn a_link_into_the_system_and_a_name_in_another_form_lead_nowhere() {
    let tools = Box::files();
    symlink("/proc/self/root", tools.path("root")).unwrap();
    symlink("/proc/self/cwd", tools.path("cwd")).unwrap();
    symlink("root", tools.path("chain")).unwrap();
    symlink("../outside", tools.path("o\u{308}ut")).unwrap();
    symlink("../outside", tools.path("OUT")).unwrap();
    for path in
        ["root/etc/passwd", "cwd/secret", "chain/etc/passwd", "o\u{308}ut/secret", "OUT/secret"]
    {
        for (tool, input) in calls(path) {
            assert_eq!(tools.refused(tool, input).0, "outside_workspace", "{tool} {path}");
        }
    }
    // Another form of the name, or another case, is another name.
    for path in ["\u{f6}ut/secret", "out/secret", "Out/secret"] {
        assert_eq!(tools.refused("read_file", json!({"path": path})).0, "not_found", "{path}");
        tools.ok("write_file", json!({"path": path, "content": "mine"}));
    }
    assert_eq!(fs::read_to_string(tools.outside().join("secret")).unwrap(), "a secret\n");
}

/// S4.13: neither an answer nor an error of a file tool has an absolute path, whether the file is there or not.
#[test]
fn no_answer_of_a_file_tool_has_an_absolute_path() {
    let tools = Box::files();
    tools.put("sub/a.rs", "fn a() {}\n");
    symlink("a.rs", tools.path("sub/link")).unwrap();
    fs::create_dir(tools.path("sub/folder")).unwrap();
    let inside = tools.absolute().to_owned() + "/inside/sub/a.rs";
    let mut answered = 0;
    for path in ["sub/a.rs", "sub/link", "sub/folder", "sub", "none/deep", "sub/a.rs/below", "."] {
        for (tool, input) in calls(path) {
            // The support of these tests looks at the text; here is what programs and hosts get.
            let answer = tools.call(tool, input);
            answered += usize::from(!answer.is_error());
            let rest =
                format!("{:?} {:?} {:?}", answer.structured(), answer.metadata(), answer.error());
            assert!(!rest.contains(tools.absolute()), "{tool} {path}: {rest}");
        }
    }
    assert!(answered > 10, "{answered}");
    // A model that guesses the path is answered by the name that it may use.
    for (tool, input) in calls(&inside) {
        let answer = runtime()
            .block_on(tools.executor.call(&toolwright::Call::new(tool, input.to_string())));
        let text = answer.text().replace(&inside, "");
        assert!(!text.contains(tools.absolute()), "{tool}: {text}");
    }
}

#[test]
fn a_workspace_that_is_moved_stays_the_folder_that_was_opened() {
    let tools = Box::files();
    tools.put("a", "the first\n");
    fs::rename(tools.path(""), tools.outside().join("moved")).unwrap();
    tools.put("a", "the second\n");
    assert_eq!(tools.ok("read_file", json!({"path": "a"})), "`a`: 1 line\n1\tthe first");
    tools.ok("write_file", json!({"path": "a", "content": "written"}));
    assert_eq!(tools.text("a"), "the second\n");
    // What can only be given a path is refused instead of leading elsewhere.
    let (kind, message) = tools.refused("list_files", json!({}));
    assert_eq!(kind, "workspace_moved", "{message}");
}

/// Paths of parts that lead in, out and nowhere.
fn paths() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just(".."),
        Just("."),
        Just(""),
        Just("a"),
        Just("b"),
        Just("out"),
        Just("in"),
        Just("outside"),
        Just("secret"),
        Just("..."),
        Just("c\0d"),
        Just("ü"),
    ];
    (any::<bool>(), prop::collection::vec(part, 0..6)).prop_map(|(absolute, parts)| {
        format!("{}{}", if absolute { "/" } else { "" }, parts.join("/"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_path_is_made_of_it_reads_and_writes_inside(path in paths()) {
        let tools = Box::files();
        tools.put("a/b", "inside\n");
        symlink("../outside", tools.path("out")).unwrap();
        symlink("a", tools.path("in")).unwrap();
        for (tool, input) in calls(&path) {
            let answer = tools.call(tool, input);
            prop_assert!(!answer.text().contains("a secret"), "{tool} {path:?}: {}", answer.text());
            prop_assert!(!answer.text().contains(tools.absolute()) || path.contains(tools.absolute()));
        }
        prop_assert_eq!(names(&tools.outside()), ["secret"]);
        prop_assert_eq!(fs::read_to_string(tools.outside().join("secret")).unwrap(), "a secret\n");
        prop_assert_eq!(names(&tools.outside().join("..")), ["inside", "outside"]);
    }
}
