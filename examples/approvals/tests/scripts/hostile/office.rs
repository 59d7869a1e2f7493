//! The application that the agent runs in, and what comes of each attempt.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use toolwright::journal::{CallRecord, Journal, SqliteStore, State, Store as _, Transition};
use toolwright::{BuildError, Call, CallId, Executor, ExecutorBuilder, OnNoApprover, Outcome, Run};

use super::digest_with;
use super::shell::{SAVE_FILE, SHELL, Terminal};
use crate::ledger::Ledger;
use crate::pace::Pace;
use crate::shop::Shop;
use crate::source::tools;
use crate::toolwright::binary;

pub struct Office {
    pub shop: Shop,
    executor: Executor,
    run: Run,
    store: SqliteStore,
    /// The refund that the agent wants.
    pub refund: CallId,
    commands: AtomicU64,
    said: Mutex<Vec<String>>,
}

/// What came of an attempt.
pub struct Row {
    pub tried: &'static str,
    said: String,
    pub state: State,
    why: String,
    pub refunds: Vec<String>,
}

impl Office {
    /// The agent has asked for a refund, which waits.
    pub async fn open(name: &str) -> Self {
        Self::at(Shop::new(&format!("hostile-{name}")), ExecutorBuilder::unrestricted).await
    }

    /// The same, where something is said of what may run.
    pub async fn at(shop: Shop, allow: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder) -> Self {
        let store = SqliteStore::open(shop.journal()).await.unwrap();
        let executor = allow(application(&shop, &store)).build().unwrap();
        let run = executor.run("ticket-1").user("bob@example.org").start().unwrap();
        let calls = [Call::new("refund", r#"{"order":"A-1001","cents":4200}"#)];
        let outcome = run.submit_turn(1, &calls).await.remove(0);
        let refund = outcome.suspended().unwrap().call;
        let (commands, said) = (AtomicU64::new(100), Mutex::default());
        Self { shop, executor, run, store, refund, commands, said }
    }

    /// The application, started once more.
    pub fn started_again(
        &mut self,
        allow: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder,
    ) -> Result<(), BuildError> {
        self.executor = allow(application(&self.shop, &self.store)).build()?;
        self.run = self.executor.run("ticket-1").user("bob@example.org").start().unwrap();
        Ok(())
    }

    pub fn executor(&self) -> &Executor {
        &self.executor
    }

    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Another refund, which waits.
    pub async fn ask(&self, turn: u64, arguments: &'static str) -> CallId {
        let outcome = self.run.submit_turn(turn, &[Call::new("refund", arguments)]).await.remove(0);
        outcome.suspended().unwrap().call
    }

    /// A refund in a turn of its own, which need not wait.
    pub async fn run_granted(&self, turn: u64, arguments: &'static str) {
        let outcome = self.run.submit_turn(turn, &[Call::new("refund", arguments)]).await.remove(0);
        assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
    }

    /// Ada approves the refund; nobody has gone on with it yet.
    pub fn approved(&self) {
        self.shop.ada(&["approvals", "approve", &self.refund.to_string()]);
    }

    /// The agent runs a command.
    pub async fn shell(&self, command: &str) {
        let arguments = serde_json::json!({ "command": command }).to_string();
        let turn = self.commands.fetch_add(1, Ordering::Relaxed);
        let outcome = self.run.submit_turn(turn, &[Call::new("shell", arguments)]).await.remove(0);
        match outcome {
            Outcome::Answered(answer) => self.hears(&answer.text()),
            // The store has seen what the command did, and takes nothing more.
            Outcome::Failed(failure) => self.hears(&failure.to_string()),
            Outcome::Suspended(suspended) => panic!("{suspended:?}"),
        }
    }

    pub async fn sql(&self, sql: &str) {
        self.shell(&format!("sqlite3 {sql}")).await;
    }

    pub fn hears(&self, text: &str) {
        let line = text.lines().next().unwrap_or_default().to_owned();
        self.said.lock().unwrap().push(line);
    }

    pub async fn record(&self) -> CallRecord {
        self.record_of(self.refund).await
    }

    pub async fn record_of(&self, call: CallId) -> CallRecord {
        self.store.get(call).await.unwrap().unwrap()
    }

    pub async fn digest_of(&self, arguments: &str) -> String {
        digest_with(&self.record().await, arguments)
    }

    /// The application does what is to be done, in the background and for who waits.
    pub async fn goes_on(&self, call: CallId) -> Outcome {
        let worker = self.run.worker().unwrap();
        worker.sweep().await.unwrap();
        worker.resume(call).await
    }

    /// What has come of it when the application has gone on.
    pub async fn row(self, tried: &'static str) -> Row {
        let outcome = self.goes_on(self.refund).await;
        let history = self.store.history(self.refund).await.unwrap();
        // That it is asked about again says what the tool says, not why.
        let last = history.iter().rev().find(|entry| entry.event != Some(Transition::Asked));
        let why = match outcome {
            Outcome::Failed(failure) => Some(failure.to_string()),
            _ => last.and_then(|entry| entry.why.clone()),
        };
        let said = self.said.into_inner().unwrap().pop().unwrap_or_default();
        let state = self.store.get(self.refund).await.unwrap().unwrap().state;
        let why = why.unwrap_or_else(|| "-".to_owned());
        Row { tried, said, state, why, refunds: self.shop.refunds() }
    }
}

fn application(shop: &Shop, store: &SqliteStore) -> ExecutorBuilder {
    let registry = tools::registry().unwrap();
    registry.register(SHELL).unwrap();
    registry.register(SAVE_FILE).unwrap();
    let terminal =
        Terminal { folder: shop.folder.clone(), commands: binary().parent().unwrap().to_owned() };
    Executor::builder(registry)
        .service(Ledger::at(shop.folder.join("ledger.txt")))
        .service(Pace::of(None))
        .service(crate::carrier::Carrier::default())
        .service(terminal)
        .journal(
            Journal::new(store.clone())
                .trust("ada", shop.ada_key().parse().unwrap())
                .on_no_approver(OnNoApprover::Park),
        )
}

/// SQL that sets what stands in a record.
pub fn set(call: CallId, changes: &str) -> String {
    format!(
        "UPDATE calls SET version = version + 1, due = 0, \
         state = json_extract(json_set(body, {changes}), '$.state'), \
         body = json_set(body, '$.version', version + 1, {changes}) WHERE id = {};",
        blob(call)
    )
}

/// SQL that makes a pending call ready, and says in its history that Ada approved it.
pub fn set_ready(call: CallId, changes: &str) -> String {
    let call_is = blob(call);
    format!(
        "{} INSERT INTO events SELECT call, number + 1, json_set(body, '$.number', number + 1, '$.who', 'ada', \
         '$.from', 'pending', '$.event', 'approved', '$.to', 'ready') FROM events WHERE call = {call_is} \
         ORDER BY number DESC LIMIT 1;",
        set(call, &format!("'$.state', 'ready'{changes}"))
    )
}

/// SQL that takes from a history whatever came after the approval.
pub fn forget_what_came_after(call: CallId) -> String {
    let call_is = blob(call);
    format!(
        "DROP TRIGGER events_are_not_removed; DELETE FROM events WHERE call = {call_is} AND number > \
         (SELECT number FROM events WHERE call = {call_is} AND body ->> '$.event' = 'approved');"
    )
}

fn blob(call: CallId) -> String {
    let digits: String = call.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("x'{digits}'")
}

/// A value as JSON inside of SQL.
pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap().replace('\'', "''")
}

/// The rows for people.
pub fn table(rows: &[Row]) -> String {
    let mut text = String::new();
    for Row { tried, said, state, why, refunds } in rows {
        let paid = if refunds.is_empty() { "nothing".to_owned() } else { refunds.join(", ") };
        let _ = write!(
            text,
            "the agent {tried}\n  last it heard  {said}\n  the call is    {state}\n  because        {why}\n  paid           {paid}\n\n"
        );
    }
    text
}
