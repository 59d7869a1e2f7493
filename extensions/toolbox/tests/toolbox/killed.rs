//! `edit_file` calls whose process is killed in the middle: the next process finds out what became of them.

use std::sync::Arc;

use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::sync::Notify;
use toolwright::approval::ApproverKey;
use toolwright::journal::{CommitError, Journal, MemoryStore, State, Store, Transaction};
use toolwright::{Call, CallId, Executor, ExecutorBuilder, OnNoApprover, Outcome, Registry};
use toolwright_toolbox::{FILES, Workspace};

use crate::support::{Box, runtime};

/// Where a process is killed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Killed {
    /// Its claim is recorded, and the tool has not begun.
    BeforeTheEdit,
    /// The file is written, and nothing of that is recorded.
    AfterTheEdit,
}

/// The journal of a process that is killed: it answers nothing any more.
struct Dead {
    inner: MemoryStore,
    at: Killed,
    is_dead: Arc<Notify>,
}

impl Store for Dead {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        std::boxed::Box::pin(async move {
            let claims = unit.calls.iter().any(|it| it.record.state == State::Running);
            if claims {
                self.inner.commit(unit, now).await?;
            }
            if !claims || self.at == Killed::BeforeTheEdit {
                self.is_dead.notify_one();
                std::future::pending::<()>().await;
            }
            Ok(())
        })
    }

    fn renew<'a>(
        &'a self,
        _: CallId,
        _: u64,
        _: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        std::boxed::Box::pin(std::future::pending())
    }

    fn acknowledge<'a>(&'a self, _: CallId) -> BoxFuture<'a, Result<(), CommitError>> {
        std::boxed::Box::pin(std::future::pending())
    }

    toolwright::pass_on_questions!(inner);
}

fn builder(tools: &Box) -> ExecutorBuilder {
    let workspace = Workspace::open(tools.path("")).unwrap();
    let builder = Executor::builder(Registry::of(FILES).unwrap()).unrestricted();
    builder.service(workspace)
}

fn parking(store: impl Store) -> Journal {
    let journal = Journal::new(store).on_no_approver(OnNoApprover::Park);
    journal.trust("ada", ApproverKey::from_seed("ada", [1; 32]).unwrap().public())
}

/// Where a call of `edit_file` stands when its process was killed and another has looked at it.
fn killed(tools: &Box, at: Killed, input: &Value) -> State {
    runtime().block_on(async {
        let (store, is_dead) = (MemoryStore::new(), Arc::new(Notify::new()));
        let dead = Dead { inner: store.clone(), at, is_dead: Arc::clone(&is_dead) };
        let first = builder(tools).journal(parking(dead)).build().unwrap();
        let input = input.to_string();
        let call = Call::new("edit_file", input.as_str());
        tokio::select! {
            outcome = first.submit(&call) => panic!("{outcome:?}"),
            () = is_dead.notified() => {}
        }
        let later = || Timestamp::now() + SignedDuration::from_mins(1);
        let second = builder(tools).journal(parking(store.clone()).clock(later)).build();
        let worker = second.unwrap().worker().unwrap();
        let mut state = State::Running;
        // The owner is gone; it is found what became of the call; where it did not happen, it runs.
        for _ in 0..3 {
            worker.sweep().await.unwrap();
            let page = toolwright::journal::Page::first(10);
            let records =
                store.list(&toolwright::journal::Filter::default(), page).await.unwrap().calls;
            let [record] = records.as_slice() else { panic!("{records:?}") };
            state = record.state;
            if let Outcome::Failed(failure) = worker.resume(record.id).await {
                panic!("{failure}");
            }
        }
        state
    })
}

#[test]
fn an_edit_that_was_killed_before_it_wrote_is_made_by_the_next_process() {
    let tools = Box::files();
    tools.put("a", "one\ntwo\n");
    let input = json!({"path": "a", "old_string": "one\n", "new_string": "one\n1.5\n"});
    assert_eq!(killed(&tools, Killed::BeforeTheEdit, &input), State::Succeeded);
    assert_eq!(tools.text("a"), "one\n1.5\ntwo\n");
}

#[test]
fn an_edit_that_was_killed_after_it_wrote_is_not_made_again() {
    let tools = Box::files();
    tools.put("a", "one\ntwo\n");
    let input = json!({"path": "a", "old_string": "two", "new_string": "2"});
    assert_eq!(killed(&tools, Killed::AfterTheEdit, &input), State::Succeeded);
    assert_eq!(tools.text("a"), "one\n2\n");
}

#[test]
fn lines_that_were_added_are_recognised_by_the_hash_of_the_file_before() {
    let tools = Box::files();
    tools.put("a", "one\ntwo\n");
    let hash = tools.hash("a");
    let mut input = json!({"path": "a", "old_string": "one\n", "new_string": "one\n1.5\n"});
    // Without it, they may have been there before.
    assert_eq!(killed(&tools, Killed::AfterTheEdit, &input), State::Indeterminate);
    tools.put("a", "one\ntwo\n");
    input["expected_hash"] = hash.into();
    assert_eq!(killed(&tools, Killed::AfterTheEdit, &input), State::Succeeded);
    assert_eq!(tools.text("a"), "one\n1.5\ntwo\n");
}
