//! A run that is killed at any moment and started again goes on, and of two at once the second follows the first.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread::{scope, sleep};
use std::time::Duration;

use serde_json::{Value, json};
use toolwright::approval::ApproverKey;
use toolwright::journal::{CallRecord, Filter, Page, SqliteStore, Store as _};

use crate::provider::{Answering, message};
use crate::{printed, program, words};

const DURABLE: &str = env!("CARGO_BIN_EXE_durable");

/// How many answers of the model a request has.
pub fn answers_in(request: &Value) -> usize {
    let messages = request["messages"].as_array().unwrap();
    messages.iter().filter(|it| it["role"] == "assistant").count()
}

/// Orders, then says that it has: the answer depends on the history alone.
pub fn answer(request: &Value) -> String {
    match answers_in(request) {
        0 => {
            let input = json!({ "article": "tea", "count": 3 });
            let call = json!({ "type": "tool_use", "id": "t1", "name": "order", "input": input });
            message("tool_use", &json!([call]))
        }
        _ => message("end_turn", &json!([{ "type": "text", "text": "Three of tea are ordered." }])),
    }
}

/// The program, started in this folder.
fn durable(folder: &Path, provider: &Answering) -> Command {
    let mut command = program(DURABLE);
    command.current_dir(folder).env("XDG_CONFIG_HOME", folder.join("config"));
    command.env_remove("TOOLWRIGHT_KEY");
    command.env("ANTHROPIC_API_KEY", "secret").env("ANTHROPIC_BASE_URL", &provider.url);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What the journal has of calls.
pub fn calls(folder: &Path) -> Vec<CallRecord> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(folder.join("shop.db")).await.unwrap();
        store.list(&Filter::default(), Page::first(9)).await.unwrap().calls
    })
}

/// When a process is killed.
#[derive(Debug, Clone, Copy)]
enum Kill {
    /// So long after its start.
    Started(u64),
    /// So long after its request of this number has come, which is answered or not.
    Asked { number: usize, after: u64, is_answered: bool },
}

/// Kills a process at its moment, unless it was faster, and starts another one in its place: what that gave.
fn killed(kill: Kill, folder: &Path) -> (Output, Vec<Value>) {
    let (sender, asked): (Sender<usize>, _) = channel();
    let provider = Answering::by(move |request, number| {
        let _ = sender.send(number);
        match kill {
            Kill::Asked { number: at, is_answered: false, .. } if at == number => {
                // The process dies meanwhile.
                sleep(Duration::from_millis(300));
                String::new()
            }
            _ => answer(request),
        }
    });
    let mut child: Child = durable(folder, &provider).spawn().unwrap();
    match kill {
        Kill::Started(after) => sleep(Duration::from_millis(after)),
        Kill::Asked { number, after, .. } => {
            while asked.recv().unwrap() != number {}
            sleep(Duration::from_millis(after));
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let output = durable(folder, &provider).output().unwrap();
    (output, provider.asked())
}

#[test]
fn a_program_that_is_killed_anywhere_and_started_again_orders_once_and_asks_for_no_answer_twice() {
    let asked = |number, after, is_answered| Kill::Asked { number, after, is_answered };
    let mut kills: Vec<Kill> = [0, 5, 20, 50].map(Kill::Started).to_vec();
    for number in [0, 1] {
        kills.push(asked(number, 0, false));
        kills.extend([0, 1, 2, 4, 8, 16].map(|after| asked(number, after, true)));
    }
    // Each waits for the end of a lease, so that they go on side by side.
    scope(|scope| {
        for kill in kills {
            scope.spawn(move || {
                let folder = tempfile::tempdir().unwrap();
                let (output, asked) = killed(kill, folder.path());
                let calls = calls(folder.path());
                assert_eq!(calls.len(), 1, "{kill:?}: {calls:?}");
                assert!(calls[0].attempt <= 1, "{kill:?}: {calls:?}");
                match output.status.success() {
                    true => {
                        assert_eq!(words(&output.stdout), "Three of tea are ordered.\n", "{kill:?}")
                    }
                    // It was killed while the tool worked: only a person knows whether it has ordered.
                    false => {
                        let error = words(&output.stderr);
                        assert!(error.contains("toolwright indeterminate"), "{kill:?}: {error}");
                        return;
                    }
                }
                // An answer that is not recorded is asked for once more, and a recorded one never.
                let first = asked.iter().filter(|it| answers_in(it) == 0).count();
                let second = asked.len() - first;
                assert!(first <= 2 && second <= 2 && first + second <= 3, "{kill:?}: {asked:?}");
            });
        }
    });
}

#[test]
fn a_program_that_has_ended_gives_its_result_again_without_the_provider() {
    let folder = tempfile::tempdir().unwrap();
    let provider = Answering::by(|request, _| answer(request));
    let said = printed(&durable(folder.path(), &provider).output().unwrap());
    assert_eq!(said, "Three of tea are ordered.\n");
    let mut away = durable(folder.path(), &provider);
    away.env("ANTHROPIC_BASE_URL", "http://127.0.0.1:1");
    assert_eq!(printed(&away.output().unwrap()), said);
    assert_eq!((provider.asked().len(), calls(folder.path()).len()), (2, 1));
}

#[test]
fn of_two_programs_at_once_the_second_follows_the_first_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (sender, asked) = channel();
    let provider = Answering::by(move |request, number| {
        let _ = sender.send(number);
        // Long enough for the second to find the first at work.
        sleep(Duration::from_millis(if number == 0 { 1_500 } else { 0 }));
        answer(request)
    });
    let first = durable(folder.path(), &provider).spawn().unwrap();
    asked.recv().unwrap();
    let second = durable(folder.path(), &provider).output().unwrap();
    let first = first.wait_with_output().unwrap();
    assert_eq!(printed(&first), "Three of tea are ordered.\n");
    assert_eq!(printed(&second), printed(&first));
    let said = words(&second.stderr);
    assert!(said.starts_with("run `order-17` is driven elsewhere until "), "{said}");
    assert!(said.trim_end().ends_with("and continuing it then if its driver has died"), "{said}");
    assert_eq!((provider.asked().len(), calls(folder.path()).len()), (2, 1));
}

/// Without it, what a person says of a call by `toolwright indeterminate` would not count, and nothing would say so.
#[test]
fn the_key_of_the_user_counts_without_an_approver() {
    let folder = tempfile::tempdir().unwrap();
    let provider = Answering::by(|request, _| answer(request));
    let file = folder.path().join("config/toolwright/keys/grace.key");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    ApproverKey::generate("grace").unwrap().save(&file).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let refused = durable(folder.path(), &provider).output().unwrap();
    assert!(words(&refused.stderr).contains("its mode is 644"), "{refused:?}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let output = durable(folder.path(), &provider).output().unwrap();
    assert_eq!(words(&output.stdout), "Three of tea are ordered.\n", "{output:?}");
}
