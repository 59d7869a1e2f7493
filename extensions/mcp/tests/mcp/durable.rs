//! Foreign tools in a journal: a person decides on their calls, processes end meanwhile, definitions change.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright::approval::{ApprovalService, ApproverKey, Clause, GrantTerms, Scope, Statement};
use toolwright::journal::{CallRecord, Filter, Journal, MemoryStore, Page, State, Store as _};
use toolwright::unstable::arguments::canonical;
use toolwright::{Call, CallId, Executor, OnNoApprover, Outcome, Registry, ToolEventKind};
use toolwright_mcp::McpServers;

use crate::client::configuration;

const NOW: &str = "2026-01-02T03:04:05Z";

/// What outlives a process.
struct Office {
    store: MemoryStore,
    ada: ApproverKey,
    folder: TempDir,
    /// What listeners hear of tools that have changed.
    changes: Arc<Mutex<Vec<String>>>,
}

/// What ends with it.
struct Process {
    servers: McpServers,
    executor: Executor,
}

impl Office {
    fn new() -> Self {
        let ada = ApproverKey::generate("ada").unwrap();
        let (store, folder) = (MemoryStore::new(), tempfile::tempdir().unwrap());
        Self { store, ada, folder, changes: Arc::default() }
    }

    fn process(&self) -> Process {
        let servers = McpServers::new(configuration(self.folder.path(), ""));
        let changes = Arc::clone(&self.changes);
        let builder = Executor::builder(Registry::empty())
            .listen(move |event| {
                if let ToolEventKind::ToolChanged { why } = event.kind {
                    changes.lock().unwrap().push(format!("{}: {why}", event.tool));
                }
            })
            .with(servers.clone())
            .journal(
                Journal::new(self.store.clone())
                    .clock(|| NOW.parse().unwrap())
                    .trust("ada", self.ada.public())
                    .on_no_approver(OnNoApprover::Park),
            );
        Process { servers, executor: builder.build().unwrap() }
    }

    async fn record(&self, call: CallId) -> CallRecord {
        self.store.get(call).await.unwrap().unwrap()
    }

    async fn say(&self, statement: Statement) {
        let signed = self.ada.sign(&statement).unwrap();
        let service = ApprovalService::new(Arc::new(self.store.clone()));
        service.submit(signed, NOW.parse().unwrap()).await.unwrap();
    }

    fn changes(&self) -> Vec<String> {
        self.changes.lock().unwrap().clone()
    }

    fn times_called(&self) -> usize {
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        log.lines().filter(|line| *line == "called echo").count()
    }

    /// The server defines `echo` differently, from its next start on.
    fn change(&self) {
        std::fs::write(self.folder.path().join("changed"), "").unwrap();
    }
}

impl Process {
    async fn call(&self, tool: &str, arguments: Value) -> Outcome {
        let run = self.executor.run("ticket-7").user("bob").start().unwrap();
        run.submit(&Call::new(tool.to_owned(), arguments.to_string())).await
    }

    async fn echo(&self) -> Outcome {
        self.call("peer__echo", json!({"text": "hi"})).await
    }

    async fn resume(&self, call: CallId) -> Outcome {
        self.executor.worker().unwrap().resume(call).await
    }

    async fn end(self) {
        self.servers.close().await;
    }
}

fn waiting(outcome: &Outcome) -> CallId {
    outcome.suspended().unwrap_or_else(|| panic!("{outcome:?}")).call
}

#[tokio::test]
async fn a_call_asks_is_edited_and_runs_in_another_process_once() {
    let office = Office::new();
    let first = office.process();
    let call = waiting(&first.echo().await);
    first.end().await;
    let record = office.record(call).await;
    assert_eq!(record.state, State::Pending);

    let edited = r#"{"text":"hello"}"#;
    let of = record.digest_with(&canonical(edited).unwrap());
    office.say(Statement::edit(&record, edited, of, "ada", NOW.parse().unwrap())).await;

    let second = office.process();
    second.servers.register_all().await.unwrap();
    let answer = second.resume(call).await.answer().unwrap();
    assert!(answer.text().contains("\nhello\n"), "{}", answer.text());
    assert_eq!(answer.metadata().unwrap()["untrusted"]["server"], "peer");
    second.end().await;
    // The journal has the mark too.
    let third = office.process();
    third.servers.register_all().await.unwrap();
    let again = third.resume(call).await.answer().unwrap();
    assert_eq!(again.metadata().unwrap()["untrusted"]["server"], "peer");
    assert_eq!(office.times_called(), 1);
    third.end().await;
}

#[tokio::test]
async fn what_was_approved_does_not_run_when_the_server_has_changed_it() {
    let office = Office::new();
    let first = office.process();
    let call = waiting(&first.echo().await);
    office.say(Statement::approve(&office.record(call).await, "ada", NOW.parse().unwrap())).await;
    first.end().await;
    office.change();

    let second = office.process();
    second.servers.register_all().await.unwrap();
    let outcome = second.resume(call).await;
    assert!(outcome.suspended().is_some(), "it asks again: {outcome:?}");
    assert_eq!(office.times_called(), 0);
    let changed = "its tool has changed since it was evaluated";
    assert_eq!(office.changes(), [format!("peer__echo: {changed}")]);
    let asked = office.record(call).await.ask.unwrap().reason;
    assert!(asked.ends_with(&format!("({changed})")), "{asked}");
    second.end().await;
}

#[tokio::test]
async fn a_grant_ends_with_the_definition_that_it_was_given_for() {
    let office = Office::new();
    let process = office.process();
    let call = waiting(&process.echo().await);
    let record = office.record(call).await;
    let terms = GrantTerms {
        scope: Scope::Forever,
        tool: record.tool.clone(),
        fingerprint: record.fingerprint.clone(),
        arguments: vec![Clause {
            pointer: "/text".to_owned(),
            is_one_of: vec!["\"hi\"".to_owned()],
        }],
        until: None,
        uses: None,
    };
    office.say(Statement::approve_with_grant(&record, terms, "ada", NOW.parse().unwrap())).await;
    assert!(process.resume(call).await.answer().is_some());
    assert!(process.echo().await.answer().is_some(), "the grant covers it");
    assert_eq!(office.times_called(), 2);

    let other = waiting(&process.call("peer__echo", json!({"text": "ho"})).await);
    let asked = office.record(other).await.ask.unwrap().reason;
    assert!(!asked.contains("has changed"), "the grant is for other arguments: {asked}");

    let change = waiting(&process.call("peer__change", json!({})).await);
    office.say(Statement::approve(&office.record(change).await, "ada", NOW.parse().unwrap())).await;
    assert!(process.resume(change).await.answer().is_some());
    let refused = process.echo().await.answer().unwrap();
    assert_eq!(refused.error().unwrap().kind(), "definition_changed");
    assert_eq!(office.changes(), [""; 0]);
    let again = office.record(waiting(&process.echo().await)).await;
    assert_eq!(office.times_called(), 2);
    let records = office.store.list(&Filter::default(), Page::first(10)).await.unwrap().calls;
    let grant = records.into_iter().find_map(|record| record.grant).unwrap();
    let changed = format!("its tool has changed since grant {grant} was given");
    assert_eq!(office.changes(), [format!("peer__echo: {changed}")]);
    let asked = again.ask.unwrap().reason;
    assert!(asked.ends_with(&format!("; {changed}")), "{asked}");
    process.end().await;
}
