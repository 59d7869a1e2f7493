//! The folder of a run: in which order its lines see it, what of it is judged, shown and recorded, and that a line runs in the
//! folder that it was asked for, or nowhere.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright::approval::{ApprovalService, ApproverKey};
use toolwright::journal::{CallRecord, Filter, Journal, MemoryStore, Page, Store, StoredText};
use toolwright::policy::Policy;
use toolwright::{
    Call, CallId, Executor, ExecutorBuilder, OnNoApprover, Outcome, ProcessOutput, Registry, Run,
};
use toolwright_toolbox::{BASH, FILES, Shell, ShellReader, Workspace};

use crate::bash::{folders, supervisor};
use crate::support::runtime;

/// A folder with `a`, and `sub` with another `a`.
fn around() -> TempDir {
    let around = folders();
    let inside = around.path().join("inside");
    for (name, content) in
        [("a", "above\n"), ("sub/a", "below\n"), ("build/x", ""), ("sub/build/x", "")]
    {
        fs::create_dir_all(inside.join(name).parent().unwrap()).unwrap();
        fs::write(inside.join(name), content).unwrap();
    }
    around
}

fn builder(around: &Path) -> ExecutorBuilder {
    let workspace = Workspace::open(around.join("inside")).unwrap();
    let registry = Registry::of(FILES.into_iter().chain([BASH])).unwrap();
    let shell = Shell::new(supervisor()).folders_in(around.join("folders"));
    Executor::builder(registry).service(workspace).service(shell)
}

fn line(command: &str) -> Value {
    json!({ "command": command })
}

fn printed(run: &Run, turn: u64, calls: &[(&str, Value)]) -> Vec<String> {
    let texts: Vec<String> = calls.iter().map(|(_, input)| input.to_string()).collect();
    let calls: Vec<Call<'_>> =
        calls.iter().zip(&texts).map(|((name, _), text)| Call::new(*name, text.as_str())).collect();
    let answers = runtime().block_on(run.turn(turn, &calls)).unwrap();
    let text = |it: &toolwright::Answer| match serde_json::from_str::<ProcessOutput>(&it.text()) {
        Ok(ran) => ran.output,
        Err(_) => it.text().into_owned(),
    };
    answers.answers().iter().map(text).collect()
}

/// S1.46: the lines of a turn run in their order, and so does what else touches the files that they are about.
#[test]
fn the_lines_of_a_turn_keep_their_order_wherever_they_go() {
    let around = around();
    let executor = builder(around.path()).unrestricted().build().unwrap();
    let run = runtime().block_on(async { executor.run("r").start().unwrap() });
    for turn in 1..=10 {
        let lines = ["cd sub", "cat a", "pwd", "cd .."].map(|it| ("bash", line(it)));
        assert_eq!(printed(&run, turn, &lines), ["", "below\n", "sub\n", ""], "turn {turn}");
    }
    // What a line reads is not known before it is known where it runs: seen from `sub`, it would not be the file that is written.
    printed(&run, 11, &[("bash", line("cd sub"))]);
    let calls = [
        ("bash", line("cd ..")),
        ("bash", line("sleep 0.2; cat a")),
        ("write_file", json!({"path": "a", "content": "new\n"})),
        ("bash", line("cat a")),
    ];
    let texts = printed(&run, 12, &calls);
    assert_eq!((&*texts[1], &*texts[3]), ("above\n", "new\n"), "{texts:?}");
}

#[test]
fn what_a_line_touches_is_named_from_the_folder_of_its_run_and_moving_writes_it() {
    let around = around();
    let executor = builder(around.path()).unrestricted().build().unwrap();
    let run = runtime().block_on(async { executor.run("r").start().unwrap() });
    let touched = |command: &str| {
        let input = line(command).to_string();
        let facts = run.examine(&Call::new("bash", input.as_str())).unwrap();
        let touches = facts.touches().unwrap();
        let of = |names: Option<&[toolwright::TouchedResource]>| -> Vec<String> {
            names.unwrap().iter().map(ToString::to_string).collect()
        };
        (of(touches.resources_read()), of(touches.resources_written()))
    };
    let own = "folder of the run `r`".to_owned();
    assert_eq!(touched("cat a"), (vec!["file `.`".into(), "file `a`".into(), own.clone()], vec![]));
    assert_eq!(touched("cd sub").1, [own.as_str()]);
    printed(&run, 1, &[("bash", line("cd sub"))]);
    assert_eq!(touched("cat a").0, ["file `sub`", "file `sub/a`", &own]);
}

/// S4.13: what the tool itself says, and `pwd`, names folders as the file tools do. What programs print is theirs.
#[test]
fn a_folder_is_named_relative_to_the_workspace_and_programs_print_what_they_print() {
    let around = around();
    let executor = builder(around.path()).unrestricted().build().unwrap();
    let run = runtime().block_on(async { executor.run("r").start().unwrap() });
    let root = around.path().join("inside").canonicalize().unwrap();
    let root = root.to_str().unwrap();
    let said = |command: &str| {
        printed(&run, 1_000 + u64::from(fastrand::u32(..)), &[("bash", line(command))]).remove(0)
    };
    assert_eq!(said("pwd; pwd -P; (cd sub; pwd); { cd sub && pwd; }"), ".\n.\nsub\nsub\n");
    assert_eq!(said("pwd"), "sub\n");
    // What another program reads is the whole path, so that a line goes on with it.
    assert_eq!(said("cd ..; here=$(pwd); cd sub; cat \"$here/a\"; pwd"), "above\nsub\n");
    assert_eq!(said("pwd | cat"), format!("{root}/sub\n"));
    assert_eq!(said("pwd > ../written; cat ../written; rm ../written"), format!("{root}/sub\n"));
    assert_eq!(said("/bin/pwd"), format!("{root}/sub\n"));
    assert_eq!(said("cd /; pwd"), "/\n", "outside there is no shorter name");
    let refused = |input: Value| {
        let input = input.to_string();
        runtime().block_on(run.call(&Call::new("bash", input.as_str()))).text().into_owned()
    };
    for folder in ["none", "a", "../outside", root, "sub/none"] {
        let text = refused(json!({"command": "pwd", "folder": folder, "timeout_seconds": 5}));
        assert!(text.contains("error_type"), "{folder}: {text}");
        assert!(folder == root || !text.contains(root), "{folder}: {text}");
    }
    let slow = refused(json!({"command": "pwd; sleep 60", "timeout_seconds": 1}));
    assert!(slow.contains("it took more than 1 seconds") && !slow.contains(root), "{slow}");
}

/// A store, and an executor over it that parks what a person has to decide. Each is a process of its own, as far as the run
/// is concerned.
struct Office {
    around: TempDir,
    store: MemoryStore,
    ada: ApproverKey,
}

impl Office {
    fn new() -> Self {
        let ada = ApproverKey::generate("ada").unwrap();
        Self { around: around(), store: MemoryStore::new(), ada }
    }

    fn executor(&self) -> Executor {
        let policy = Policy::builder().commands(ShellReader);
        let journal = Journal::new(self.store.clone()).trust("ada", self.ada.public());
        let builder = builder(self.around.path()).policy(policy);
        builder.journal(journal.on_no_approver(OnNoApprover::Park)).build().unwrap()
    }

    fn submit(&self, turn: u64, command: &str) -> Outcome {
        let input = line(command).to_string();
        runtime().block_on(async {
            let run = self.executor().run("r").start().unwrap();
            run.submit_turn(turn, &[Call::new("bash", input.as_str())]).await.remove(0)
        })
    }

    fn waiting(&self, turn: u64, command: &str) -> CallId {
        self.submit(turn, command).suspended().expect("it waits for a person").call
    }

    fn record(&self, id: CallId) -> CallRecord {
        let records = runtime().block_on(self.store.list(&Filter::default(), Page::first(100)));
        records.unwrap().calls.into_iter().find(|it| it.id == id).unwrap()
    }

    /// Approves a call, and carries it out in another process.
    fn approved(&self, id: CallId) -> String {
        runtime().block_on(async {
            let service = ApprovalService::new(Arc::new(self.store.clone()));
            service.approve(id, &self.ada).await.unwrap();
            let outcome = self.executor().worker().unwrap().resume(id).await;
            outcome.answer().unwrap().text().into_owned()
        })
    }

    fn has(&self, name: &str) -> bool {
        self.around.path().join("inside").join(name).exists()
    }
}

#[test]
fn a_line_runs_where_it_was_asked_for_however_its_run_moves_and_in_whichever_process() {
    let office = Office::new();
    office.submit(1, "cd sub");
    let id = office.waiting(2, "rm -rf build");
    let record = office.record(id);
    // What runs and what is shown is one text, and the decision is bound to its digest.
    assert_eq!(record.arguments, StoredText::Plain(record.shown.clone()));
    assert!(record.shown.contains(r#""folder":"sub""#), "{}", record.shown);
    // The run goes elsewhere before a person decides.
    assert!(
        office.submit(3, "cd ..").answer().is_some(),
        "it stays inside, so that it runs unasked"
    );
    assert!(office.approved(id).contains(r#""success":true"#));
    assert!(office.has("build") && !office.has("sub/build"), "another folder's was removed");
    let here = office.submit(4, "pwd").answer().unwrap().text().into_owned();
    assert!(here.contains(r#""output":".\n""#), "a line that moved nothing moved its run: {here}");
}

/// What lies inside the workspace is known from where the line runs, and not from its own folder alone.
#[test]
fn a_line_is_judged_from_the_folder_of_its_run() {
    let office = Office::new();
    let answered =
        |turn: u64, line: &str| office.submit(turn, line).answer().map(|it| it.text().into_owned());
    answered(1, "cd sub").unwrap();
    assert!(answered(2, "cat ../a").unwrap().contains("above"));
    assert!(answered(3, "cd .. && cat a; cd sub").unwrap().contains("above"));
    for (turn, line) in
        [(4, "cat ../../x"), (5, "cd ../.."), (6, "cat ../.env"), (7, "grep -r x ..")]
    {
        assert_eq!(answered(turn, line), None, "{line}");
    }
    answered(8, "cd ..").unwrap();
    assert_eq!(answered(9, "cat ../a"), None);
}

#[test]
fn a_line_whose_folder_is_gone_or_is_another_now_does_not_run() {
    for replaced in [false, true] {
        let office = Office::new();
        office.submit(1, "cd sub");
        let id = office.waiting(2, "rm -rf build; rm -rf x");
        let sub = office.around.path().join("inside/sub");
        fs::rename(&sub, office.around.path().join("moved")).unwrap();
        if replaced {
            symlink(".", &sub).unwrap();
        }
        let text = office.approved(id);
        assert!(text.contains("folder_gone") && text.contains("`sub`"), "{text}");
        assert!(office.has("build"), "it ran elsewhere");
        let next = office.submit(3, "pwd").answer().unwrap().text().into_owned();
        assert!(next.contains("folder_gone"), "{next}");
    }
}

/// What cannot be read is no reason to run a line in another folder.
#[test]
fn a_run_whose_folder_cannot_be_read_runs_nothing_until_one_is_named() {
    let office = Office::new();
    office.submit(1, "cd sub");
    let stored = fs::read_dir(office.around.path().join("folders")).unwrap().next().unwrap();
    fs::write(stored.unwrap().path(), "{").unwrap();
    let executor = builder(office.around.path()).unrestricted().build().unwrap();
    let call = |input: Value| {
        let (run, input) = (executor.run("r"), input.to_string());
        runtime().block_on(async {
            run.start().unwrap().call(&Call::new("bash", input.as_str())).await.text().into_owned()
        })
    };
    let text = call(line("pwd"));
    assert!(text.contains("folder_unknown"), "{text}");
    assert!(call(json!({"command": "pwd", "folder": "."})).contains(r#""output":".\n""#));
}
