//! The groups: what is in them, what the tools say of themselves, and that nothing is registered by itself.

use serde_json::json;
use toolwright::{Call, Danger, DeclaredDanger, Effect, Handle, Registration, Registry};
use toolwright_toolbox::{
    BASH, EDIT_FILE, FILES, GLOB, GREP, PROCESS, READ_FILE, WEB_FETCH, WEB_SEARCH, WRITE_FILE,
};

use crate::support::Box;

#[test]
fn linking_the_toolbox_registers_none_of_its_tools() {
    // They are linked, because this test refers to them.
    assert_eq!(FILES.len() + PROCESS.len(), 9);
    assert_eq!(Handle::linked().count(), 0);
    let error = Registry::linked().unwrap_err().to_string();
    assert!(error.contains("write `toolwright::link!(my_tools);` beside `main`"), "{error}");
}

#[test]
fn an_application_selects_single_tools_by_their_handles() {
    let registry = Registry::of([toolwright_toolbox::READ_FILE, toolwright_toolbox::GREP]).unwrap();
    assert_eq!(registry.catalog().names().collect::<Vec<_>>(), ["read_file", "grep"]);
}

/// S2.3, S2.16: the eight built-in tools of a coding CLI are handles of this crate, under its names or those of the CLI.
#[test]
fn the_eight_tools_of_a_coding_cli_are_here_by_its_names() {
    let tools: [(&str, Handle); 8] = [
        ("Bash", BASH),
        ("Read", READ_FILE),
        ("Write", WRITE_FILE),
        ("Edit", EDIT_FILE),
        ("Glob", GLOB),
        ("Grep", GREP),
        ("WebFetch", WEB_FETCH),
        ("WebSearch", WEB_SEARCH),
    ];
    let named = tools.map(|(name, tool)| Registration::from(tool).renamed(name));
    let registry = Registry::of(named).unwrap();
    for (name, tool) in tools {
        let definition = registry.get(name).unwrap();
        let own = Registry::of([tool]).unwrap();
        assert_eq!(definition.input_schema, own.get(tool.name()).unwrap().input_schema, "{name}");
        assert!(!definition.description.is_empty(), "{name}");
    }
    assert_eq!(registry.definitions().count(), 8);
}

/// S4.14: there are tools for files and programs, and none for channels, messages or voice.
#[test]
fn each_tool_says_its_group_its_effect_and_its_danger() {
    let registry = Registry::of(FILES.into_iter().chain(PROCESS)).unwrap();
    assert_eq!(registry.definitions().count(), 9, "each is in this list");
    for (tool, group, effect, danger) in [
        ("read_file", "file", Effect::Read, Danger::Safe),
        ("write_file", "file", Effect::Idempotent, Danger::Moderate),
        ("edit_file", "file", Effect::Once, Danger::Moderate),
        ("patch_lines", "file", Effect::Once, Danger::Moderate),
        ("apply_patch", "file", Effect::Once, Danger::Moderate),
        ("list_files", "file", Effect::Read, Danger::Safe),
        ("glob", "file", Effect::Read, Danger::Safe),
        ("grep", "file", Effect::Read, Danger::Safe),
        ("run_command", "command", Effect::Once, Danger::Dangerous),
    ] {
        let definition = registry.get(tool).unwrap();
        assert_eq!(definition.group.as_deref(), Some(group), "{tool}");
        assert_eq!(definition.effect, effect, "{tool}");
        assert_eq!(definition.danger, DeclaredDanger::Level(danger), "{tool}");
    }
}

/// Files that a call reads and writes; `None` if it may be any.
type Named = Option<Vec<&'static str>>;

#[test]
fn each_tool_says_which_files_a_call_touches() {
    let tools = Box::of(FILES.into_iter().chain(PROCESS));
    let file = |name| Some(vec![name]);
    let patch =
        "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/b b/c\nrename from b\nrename to c\n";
    let cases: [(&str, serde_json::Value, Named, Named); 10] = [
        ("read_file", json!({"path": "./a//b"}), file("a/b"), Some(vec![])),
        ("write_file", json!({"path": "a", "content": ""}), Some(vec![]), file("a")),
        (
            "edit_file",
            json!({"path": "a", "old_string": "x", "new_string": "y"}),
            file("a"),
            file("a"),
        ),
        (
            "patch_lines",
            json!({"path": "a", "patches": [{"start_line": 1, "end_line": 1, "content": ""}]}),
            file("a"),
            file("a"),
        ),
        ("apply_patch", json!({"patch": patch}), Some(vec!["a", "b"]), Some(vec!["a", "c", "b"])),
        // A patch that cannot be read is refused before any file is touched.
        ("apply_patch", json!({"patch": "@@ -1 +1 @@"}), Some(vec![]), Some(vec![])),
        ("list_files", json!({}), file("."), Some(vec![])),
        ("glob", json!({"pattern": "*", "path": "src"}), file("src"), Some(vec![])),
        ("grep", json!({"pattern": "x", "path": "src"}), file("src"), Some(vec![])),
        ("run_command", json!({"program": "ls"}), Some(vec![]), None),
    ];
    for (tool, input, reads, writes) in cases {
        let input = input.to_string();
        let facts = tools.executor.examine(&Call::new(tool, input.as_str())).unwrap();
        let footprint = facts.touches().unwrap();
        let read = footprint.reads_named().map(|it| it.map(|(_, name)| name.unwrap().to_owned()));
        let written =
            footprint.writes_named().map(|it| it.map(|(_, name)| name.unwrap().to_owned()));
        let texts = |named: Named| named.map(|it| it.into_iter().map(str::to_owned).collect());
        assert_eq!(read.map(Iterator::collect::<Vec<_>>), texts(reads), "{tool} reads");
        assert_eq!(written.map(Iterator::collect::<Vec<_>>), texts(writes), "{tool} writes");
    }
}
