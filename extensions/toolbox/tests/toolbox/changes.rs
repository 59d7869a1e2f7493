//! The change log as a stage: whatever tool names the files that it writes can be undone.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright::journal::{Filter, Journal, MemoryStore, Page, Store as _};
use toolwright::policy::{Mode, Policy, PolicyBuilder};
use toolwright::{
    Answer, Call, CallId, Executor, Handle, OnNoApprover, Registry, Run, ToolError, tool,
};
use toolwright_toolbox::{CHANGES, ChangeLog, FILES, PROCESS, SyntaxCheck, Workspace};

use crate::support::runtime;

/// Put a stamp at the end of a file.
#[tool(unlinked, effect = once, reads(file = path), writes(file = path), blocking)]
fn stamp(
    workspace: &Workspace,
    /// Which file.
    path: String,
) -> Result<&'static str, ToolError> {
    let text = workspace.read_text(&path)?;
    workspace.write(&path, format!("{text}stamped\n").as_bytes())?;
    Ok("stamped")
}

/// Change a file and fail.
#[tool(unlinked, effect = once, writes(file = path), blocking)]
fn fail_after_writing(
    workspace: &Workspace,
    /// Which file.
    path: String,
) -> Result<(), ToolError> {
    workspace.write(&path, b"half of it")?;
    panic!("in the middle of {path}");
}

/// Add a section to a file.
#[tool(unlinked, effect = once, writes(file = path), blocking)]
fn add_section(
    workspace: &Workspace,
    /// Which file.
    path: String,
) -> Result<Section, ToolError> {
    workspace.write(&path, b"[broken\n")?;
    Ok(Section { lines: 1 })
}

/// Change a file and break the log beside the workspace.
#[tool(unlinked, effect = once, writes(file = path), blocking)]
fn break_log(
    workspace: &Workspace,
    /// Which file.
    path: String,
) -> Result<&'static str, ToolError> {
    workspace.write(&path, b"1\n")?;
    let log = rusqlite::Connection::open(workspace.root().join("../changes.db")).unwrap();
    log.execute_batch("DROP TABLE undone; DROP TABLE changes").unwrap();
    Ok("done")
}

/// What was added.
#[toolwright::data]
struct Section {
    /// How many lines.
    lines: u32,
}

const OWN: [Handle; 4] = [STAMP, FAIL_AFTER_WRITING, ADD_SECTION, BREAK_LOG];

/// A folder, its log beside it, and a run over both.
struct Desk {
    around: TempDir,
    store: MemoryStore,
    run: Run,
}

impl Desk {
    fn new() -> Self {
        let around = TempDir::new().unwrap();
        fs::create_dir(around.path().join("work")).unwrap();
        let store = MemoryStore::new();
        let run = started(&around, &store, "first");
        Self { around, store, run }
    }

    /// What a later process sees.
    fn restart(&mut self, run: &str) {
        self.run = started(&self.around, &self.store, run);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.around.path().join("work").join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn turn(&self, turn: u64, tool: &str, input: Value) -> Answer {
        self.calls(turn, [(tool, input)]).remove(0)
    }

    /// The answers to the calls of one turn.
    fn calls<'a>(
        &self,
        turn: u64,
        calls: impl IntoIterator<Item = (&'a str, Value)>,
    ) -> Vec<Answer> {
        let inputs: Vec<_> = calls.into_iter().map(|it| (it.0, it.1.to_string())).collect();
        let calls: Vec<Call<'_>> =
            inputs.iter().map(|(tool, input)| Call::new(*tool, input.as_str())).collect();
        runtime().block_on(self.run.turn(turn, &calls)).unwrap().into_answers()
    }

    fn ok(&self, turn: u64, tool: &str, input: Value) -> String {
        let answer = self.turn(turn, tool, input);
        assert!(!answer.is_error(), "{}", answer.text());
        answer.into_text()
    }

    fn refused(&self, turn: u64, tool: &str, input: Value) -> (String, String) {
        let answer = self.turn(turn, tool, input);
        let error = answer.error().unwrap_or_else(|| panic!("{}", answer.text()));
        assert!(!error.to_json().contains(self.around.path().to_str().unwrap()), "{error}");
        (error.kind().to_owned(), error.message().to_owned())
    }

    /// The id that the journal has of the only call of a turn.
    fn call_id(&self, turn: u64) -> CallId {
        let filter = Filter::default();
        let all = self.store.list(&filter, Page::first(100));
        let all = runtime().block_on(all).unwrap().calls;
        let of_turn = |it: &&toolwright::journal::CallRecord| it.place.turn == Some(turn);
        all.iter().find(of_turn).unwrap().id
    }

    fn write(&self, turn: u64, path: &str, content: &str) {
        self.ok(turn, "write_file", json!({"path": path, "content": content}));
    }
}

fn started(around: &TempDir, store: &MemoryStore, run: &str) -> Run {
    executor(around, store, None).run(run).start().unwrap()
}

fn executor(around: &TempDir, store: &MemoryStore, policy: Option<PolicyBuilder>) -> Executor {
    let workspace = Arc::new(Workspace::open(around.path().join("work")).unwrap());
    let log = ChangeLog::open(around.path().join("changes.db"), Arc::clone(&workspace)).unwrap();
    let tools = FILES.into_iter().chain(PROCESS).chain(CHANGES).chain(OWN);
    let builder = Executor::builder(Registry::of(tools).unwrap())
        .journal(Journal::new(store.clone()).on_no_approver(OnNoApprover::Fail));
    let builder = match policy {
        Some(policy) => builder.policy(policy.base(workspace.root()).journal(log.file())),
        None => builder.unrestricted(),
    };
    builder
        .middleware(log.clone())
        .middleware(SyntaxCheck::new(Arc::clone(&workspace)))
        .service(log)
        .service_arc(workspace)
        .build()
        .unwrap()
}

/// S1.26, S1.37, S1.53, S1.56: the log is the backup of what is overwritten, with its mode.
#[test]
fn what_write_file_replaced_is_restored_by_a_later_process() {
    let mut desk = Desk::new();
    fs::write(desk.path("a"), "of a person\n").unwrap();
    fs::set_permissions(desk.path("a"), fs::Permissions::from_mode(0o600)).unwrap();
    desk.write(1, "a", "of a model\n");
    desk.restart("second");
    assert_eq!(
        desk.ok(1, "undo_file", json!({"path": "a"})),
        "restored `a`: change 1 by `write_file` in turn 1 is undone"
    );
    assert_eq!(desk.text("a"), "of a person\n");
    assert_eq!(fs::metadata(desk.path("a")).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_tool_of_an_application_is_undone_without_code_of_its_own() {
    let desk = Desk::new();
    desk.write(1, "notes", "one\n");
    desk.ok(2, "stamp", json!({"path": "./notes"}));
    assert_eq!(desk.text("notes"), "one\nstamped\n");
    desk.ok(3, "undo_file", json!({"path": "notes"}));
    assert_eq!(desk.text("notes"), "one\n");
}

#[test]
fn a_tool_that_panics_after_it_wrote_can_be_undone() {
    let desk = Desk::new();
    desk.write(1, "a", "whole\n");
    desk.refused(2, "fail_after_writing", json!({"path": "a"}));
    assert_eq!(desk.text("a"), "half of it");
    desk.ok(3, "undo_file", json!({"path": "a"}));
    assert_eq!(desk.text("a"), "whole\n");
}

/// S1.38, S1.60: the turn's files are restored from the newest change, and one that cannot be restored stops none of the
/// others.
#[test]
fn a_turn_is_undone_with_a_line_for_each_file() {
    let mut desk = Desk::new();
    desk.write(2, "old", "0\n");
    let write = |path: &str| ("write_file", json!({"path": path, "content": "3\n"}));
    let edit = ("edit_file", json!({"path": "old", "old_string": "3", "new_string": "4"}));
    desk.calls(3, [write("old"), write("src/new"), write("taken"), edit]);
    desk.write(4, "taken", "4\n");
    desk.restart("second");
    let answer = desk.ok(1, "undo_turn", json!({"turn": 3, "run": "first"}));
    // The three files are written at the same time, and the edit of `old` waits for its write alone: their changes have the
    // numbers 2 to 5 in any order, and the files come in that order.
    let mut lines: Vec<String> = answer.lines().map(without_numbers_of_changes).collect();
    lines.sort();
    assert_eq!(
        lines,
        [
            "not restored: `taken` is not what change N by `write_file` in turn 3 left: change 6 by `write_file` in turn 4 came later; undo that one first",
            "removed `src/new`: change N by `write_file` in turn 3 is undone",
            "restored `old`: changes N, N are undone",
            "turn 3 of run `first`:",
        ]
    );
    assert_eq!((desk.text("old"), desk.text("taken")), ("0\n".to_owned(), "4\n".to_owned()));
    assert!(!desk.path("src").exists());
    let (kind, message) = desk.refused(2, "undo_turn", json!({"turn": 3, "run": "first"}));
    assert_eq!(kind, "not_undone", "{message}");
    // Its own run has no such turn.
    let (kind, message) = desk.refused(3, "undo_turn", json!({"turn": 4}));
    assert_eq!(
        (kind.as_str(), message.as_str()),
        ("not_found", "the log has no change of turn 4 of run `second` in effect")
    );
}

#[test]
fn a_turn_does_not_undo_itself() {
    let desk = Desk::new();
    let write = ("write_file", json!({"path": "a", "content": "1\n"}));
    let answers = desk.calls(1, [write, ("undo_turn", json!({"turn": 1}))]);
    assert_eq!(answers[1].error().map(|it| it.kind()), Some("busy"), "{}", answers[1].text());
    assert_eq!(desk.text("a"), "1\n");
    desk.ok(2, "undo_turn", json!({"turn": 1}));
    assert!(!desk.path("a").exists());
}

/// The line with `N` for the numbers 2 to 5.
fn without_numbers_of_changes(line: &str) -> String {
    let mut before = "";
    let words = line.split(' ').map(|word| {
        let is_of_turn = std::mem::replace(&mut before, word) == "turn";
        match word {
            "2" | "3" | "4" | "5" if !is_of_turn => "N",
            "2," | "3," | "4," | "5," => "N,",
            _ => word,
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_command_undoes_the_turn_of_the_run_that_changed_files_last() {
    let mut desk = Desk::new();
    desk.write(1, "a", "first\n");
    desk.restart("second");
    desk.write(1, "a", "second\n");
    let executor = executor(&desk.around, &desk.store, None);
    let answer = runtime().block_on(executor.call(&Call::new("undo_turn", r#"{"turn":1}"#)));
    assert!(
        answer.text().starts_with("turn 1 of run `second`:\nrestored `a`"),
        "{}",
        answer.text()
    );
    assert_eq!(desk.text("a"), "first\n");
}

/// S1.54, S1.55, S1.58, S1.59: file, operation, turn and call id, which is the one of the call in the journal.
#[test]
fn the_history_names_each_change_and_what_cannot_be_undone() {
    let desk = Desk::new();
    desk.write(1, "a", "1\n");
    desk.write(2, "a", "2\n");
    desk.ok(3, "run_command", json!({"program": "true"}));
    desk.ok(4, "undo_file", json!({"path": "a"}));
    desk.ok(5, "read_file", json!({"path": "a"}));
    let history = desk.ok(6, "file_history", json!({}));
    let lines: Vec<&str> = history.lines().collect();
    let [undo, program, second, first] = lines[..] else { panic!("{history}") };
    assert!(undo.contains("`undo_file` restored `a`  (turn 4, run `first`, call "), "{undo}");
    assert!(
        program.contains(
            "`run_command` may have changed files: it does not name what it writes  (turn 3"
        ),
        "{program}"
    );
    assert!(program.ends_with("cannot be undone"), "{program}");
    assert!(second.starts_with("2  ") && second.ends_with("undone by change 3"), "{second}");
    assert!(first.contains("`write_file` created `a`  (turn 1"), "{first}");
    for (turn, line) in [(1, first), (2, second), (4, undo)] {
        let id = desk.call_id(turn);
        assert!(line.contains(&format!("(turn {turn}, run `first`, call {id})")), "{id}: {line}");
    }
    let of_other = desk.ok(7, "file_history", json!({"path": "b"}));
    assert!(of_other.contains("`run_command`") && !of_other.contains("write_file"), "{of_other}");
}

#[test]
fn a_call_whose_files_cannot_be_recorded_does_not_begin() {
    let desk = Desk::new();
    desk.write(1, "a", "1\n");
    let other = rusqlite::Connection::open(desk.around.path().join("changes.db")).unwrap();
    other.execute_batch("DROP TABLE undone; DROP TABLE changes").unwrap();
    let (kind, _) = desk.refused(2, "write_file", json!({"path": "a", "content": "2\n"}));
    assert_eq!(kind, "change_log_unavailable");
    assert_eq!(desk.text("a"), "1\n");
    // What writes nothing does not need the log.
    desk.ok(3, "read_file", json!({"path": "a"}));
}

#[test]
fn a_change_that_cannot_be_recorded_after_its_call_is_reported_in_the_answer() {
    let answer = Desk::new().ok(1, "break_log", json!({"path": "a"}));
    assert!(
        answer.starts_with("done\nwarning: what the call changed is not recorded yet: "),
        "{answer}"
    );
}

#[test]
fn no_tool_may_write_the_log() {
    let around = TempDir::new().unwrap();
    fs::create_dir(around.path().join("work")).unwrap();
    let executor =
        executor(&around, &MemoryStore::new(), Some(Policy::builder().mode(Mode::AutoSafe)));
    for end in ["", "-wal"] {
        let log =
            format!("{}{end}", around.path().canonicalize().unwrap().join("changes.db").display());
        let input = json!({"path": log, "content": ""}).to_string();
        let answer = runtime().block_on(executor.call(&Call::new("write_file", input.as_str())));
        let error = answer.error().expect("it is refused");
        assert!(
            error.message().contains("the journal is written by the executor alone"),
            "{error}"
        );
    }
}

#[test]
fn undo_refuses_what_leads_out_of_the_workspace() {
    let desk = Desk::new();
    for (turn, path) in [(1, "../changes.db"), (2, "/etc/passwd")] {
        for answer in
            desk.calls(turn, ["undo_file", "file_history"].map(|it| (it, json!({"path": path}))))
        {
            assert_eq!(answer.error().expect("it is refused").kind(), "outside_workspace");
        }
    }
}

/// S1.57: what a change left is in the log. A file that is something else by now is not overwritten, whoever made it so, and
/// what was undone comes back as it was left.
#[test]
fn what_a_change_left_is_known_and_comes_back() {
    let mut desk = Desk::new();
    desk.write(1, "a", "one\n");
    desk.write(2, "a", "two\n");
    // As long as what the change left, so that only its content tells the two apart.
    fs::write(desk.path("a"), "TWO\n").unwrap();
    let (kind, message) = desk.refused(3, "undo_file", json!({"path": "a"}));
    assert_eq!(kind, "file_changed");
    assert!(message.ends_with("something that is not in the log changed it later"), "{message}");
    assert_eq!(desk.text("a"), "TWO\n");
    fs::write(desk.path("a"), "two\n").unwrap();
    desk.restart("second");
    desk.ok(1, "undo_file", json!({"path": "a"}));
    assert_eq!(desk.text("a"), "one\n");
    let history = desk.ok(2, "file_history", json!({"path": "a"}));
    let undo: i64 = history.split_whitespace().next().unwrap().parse().unwrap();
    desk.ok(3, "undo_file", json!({"path": "a", "change": undo}));
    assert_eq!(desk.text("a"), "two\n");
}

/// S1.69: what is known of a file's syntax is that of its text now, whatever changed it: neither a tree from before a change
/// nor one of another file with the text is reported.
#[test]
fn a_parsed_file_is_parsed_anew_when_it_has_changed() {
    let desk = Desk::new();
    let (good, bad) = ("[1, 2]\n", "[1, 2\n");
    let write = |turn: u64, path: &str, text: &str| {
        let answer = desk.ok(turn, "write_file", json!({"path": path, "content": text}));
        answer.contains("warning")
    };
    assert!(!write(1, "a.json", good));
    assert!(write(2, "a.json", bad));
    // A person repairs it, and the next edit breaks it as the one before did.
    fs::write(desk.path("a.json"), good).unwrap();
    assert!(write(3, "a.json", bad));
    // A person breaks it, and the next edit leaves it so.
    fs::write(desk.path("a.json"), "[3\n").unwrap();
    assert!(!write(4, "a.json", "[4\n"));
    // Both texts were parsed for another file.
    assert!(!write(5, "b.json", good) && write(6, "b.json", bad));
    assert!(!write(7, "a.json", good));
}

/// S1.70: what an edit broke is reported with the answer, which succeeds as before.
#[test]
fn a_broken_edit_is_reported_in_its_answer() {
    let desk = Desk::new();
    desk.write(1, "a.rs", "fn main() {\n    run(1);\n}\n");
    let edit = |old: &str, new: &str| json!({"path": "a.rs", "old_string": old, "new_string": new});
    let broken = desk.ok(2, "edit_file", edit("run(1);", "run(1;"));
    assert!(
        broken.ends_with(
            "\nwarning: the call succeeded, but `a.rs` has syntax errors that it did not have before:\n  \
             line 2, column 10: missing `)` after `run(1`"
        ),
        "{broken}"
    );
    // What was broken before is not reported again, and a repair reports nothing.
    assert!(!desk.ok(3, "edit_file", edit("fn main", "fn start")).contains("warning"));
    assert!(!desk.ok(4, "edit_file", edit("run(1;", "run(1);")).contains("warning"));
}

#[test]
fn up_to_three_places_are_reported_and_the_others_counted() {
    let desk = Desk::new();
    desk.write(1, "a.json", "[\n1,\n\n\n2,\n\n\n3,\n\n\n4,\n\n\n5]\n");
    let broken = "[\n1:,\n\n\n2:,\n\n\n3:,\n\n\n4:,\n\n\n5]\n";
    let answer = desk.ok(2, "write_file", json!({"path": "a.json", "content": broken}));
    assert_eq!(answer.matches("\n  line ").count(), 3, "{answer}");
    assert!(answer.ends_with("\n  and 1 more"), "{answer}");
}

#[test]
fn a_broken_file_that_is_renamed_is_not_newly_broken() {
    let desk = Desk::new();
    fs::write(desk.path("a.json"), "[1, 2\n").unwrap();
    let rename = "--- a/a.json\n+++ b/b.json\nrename from a.json\nrename to b.json\n";
    let answer = desk.ok(
        1,
        "apply_patch",
        json!({"patch": format!("diff --git a/a.json b/b.json\n{rename}")}),
    );
    assert!(!answer.contains("warning"), "{answer}");
    // What the same patch breaks is reported.
    let broken = "diff --git a/b.json b/c.json\nrename from b.json\nrename to c.json\n--- a/b.json\n+++ b/c.json\n\
                  @@ -1 +1 @@\n-[1, 2\n+[1, }, {2\n";
    let answer = desk.ok(2, "apply_patch", json!({"patch": broken}));
    assert!(answer.contains("`c.json` has syntax errors"), "{answer}");
}

#[test]
fn broken_files_that_are_renamed_together_are_not_newly_broken() {
    let desk = Desk::new();
    let mut patch = String::new();
    for number in 0..20 {
        fs::write(desk.path(&format!("old{number}.json")), format!("[{number}, {{\n")).unwrap();
        patch.push_str(&format!(
            "diff --git a/old{number}.json b/new{number}.json\nrename from old{number}.json\nrename to new{number}.json\n"
        ));
    }
    let answer = desk.ok(1, "apply_patch", json!({"patch": patch}));
    assert!(!answer.contains("warning"), "{answer}");
}

#[test]
fn a_structured_answer_stays_structured_beside_the_warning() {
    let desk = Desk::new();
    let answer = desk.turn(1, "add_section", json!({"path": "a.toml"}));
    assert_eq!(answer.structured(), Some(json!({"lines": 1})));
    assert!(
        answer.text().contains("warning: the call succeeded, but `a.toml`"),
        "{}",
        answer.text()
    );
}
