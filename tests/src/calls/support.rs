//! An application with tools that ask, somebody who decides, and a clock that is set by hand.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use toolwright::approval::{
    ApprovalError, ApprovalService, ApproverKey, Clause, GrantTerms, Scope, Statement,
    SubmitOutcome,
};
use toolwright::journal::{CallRecord, Entry, Filter, Journal, MemoryStore, Page, State, Store};
use toolwright::{
    Answer, Call, CallId, Executor, ExecutorBuilder, OnNoApprover, Outcome, Reconciled, Registry,
    SuspendedCall, ToolContext, ToolError, tool,
};

/// What ran, with which key.
#[derive(Default)]
pub struct Ran(Mutex<Vec<String>>, AtomicU32);

impl Ran {
    pub fn add(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
        self.1.fetch_add(1, Ordering::SeqCst);
    }

    pub fn times(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    pub fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Pays somebody back.
#[tool(name = "kept_refund", approval = "it sends money", preview = preview_refund)]
pub async fn refund(
    ran: &Ran,
    /// Which order.
    order: String,
    /// How much, in cents.
    #[arg(default = 100, minimum = 1)]
    cents: u64,
) -> String {
    ran.add(format!("refund {order} {cents}"));
    format!("refunded {cents} for {order}")
}

async fn preview_refund(_ran: &Ran, order: String, cents: u64) -> String {
    format!("{order}: -{cents}")
}

/// Notes something down.
#[tool(name = "kept_note")]
pub async fn note(
    ran: &Ran,
    context: &ToolContext,
    /// What.
    text: String,
) -> String {
    ran.add(format!("note {text} {}", context.idempotency_key()));
    text
}

/// Looks at something.
#[tool(name = "kept_look", effect = read)]
pub async fn look(ran: &Ran) -> u32 {
    ran.add("look");
    7
}

/// Fails in the way that it is told to.
#[tool(name = "kept_fail")]
pub async fn fail(
    ran: &Ran,
    /// How.
    how: String,
) -> Result<String, ToolError> {
    ran.add(format!("fail {how}"));
    match how.as_str() {
        "panic" => panic!("broken"),
        "transient" => Err(ToolError::new("lost", "the connection was lost")
            .class(toolwright::ErrorClass::Transient)),
        _ => Err(ToolError::new("wrong", "string not found")),
    }
}

/// Waits for ever.
#[tool(name = "kept_hang")]
pub async fn hang(ran: &Ran) {
    ran.add("hang");
    crate::support::forever().await
}

/// Waits for ever, and may be repeated.
#[tool(name = "kept_hang_again", effect = idempotent)]
pub async fn hang_again(ran: &Ran) {
    ran.add("hang again");
    crate::support::forever().await
}

/// Waits for ever; what became of it can be found out.
#[tool(name = "kept_ship", reconcile = |parcel| match parcel.as_str() {
    "arrived" => Reconciled::Happened(toolwright::Output::text("it arrived")),
    "unknown" => Reconciled::Unknown,
    _ => Reconciled::DidNotHappen,
})]
pub async fn ship(
    ran: &Ran,
    /// What.
    parcel: String,
) {
    ran.add(format!("ship {parcel}"));
    crate::support::forever().await
}

/// Signs in somewhere.
#[tool(name = "kept_sign_in", approval = "it uses a password")]
pub async fn sign_in(
    ran: &Ran,
    /// Where.
    site: String,
    /// With what.
    #[arg(secret)]
    password: String,
) -> String {
    ran.add(format!("sign in {site} {}", password.len()));
    format!("signed in with {password}")
}

/// A clock that stands still until it is moved.
#[derive(Clone)]
pub struct Clock(Arc<Mutex<Timestamp>>);

impl Clock {
    pub fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }

    pub fn pass(&self, time: Duration) {
        let mut now = self.0.lock().unwrap();
        *now = now.checked_add(time).unwrap();
    }
}

/// One journal, and all that is needed to make executors on it.
pub struct Office {
    pub store: MemoryStore,
    pub clock: Clock,
    pub ada: ApproverKey,
    pub ran: Arc<Ran>,
}

pub fn office() -> Office {
    Office {
        store: MemoryStore::new(),
        clock: Clock(Arc::new(Mutex::new("2026-01-02T03:04:05Z".parse().unwrap()))),
        ada: key("ada", 1),
        ran: Arc::default(),
    }
}

pub fn key(name: &str, seed: u8) -> ApproverKey {
    ApproverKey::from_seed(name, [seed; 32]).unwrap()
}

impl Office {
    /// Without a word on what happens where no approver can be asked.
    pub fn bare(&self) -> ExecutorBuilder {
        self.ruled().unrestricted()
    }

    /// The same without a word on what may run.
    pub fn ruled(&self) -> ExecutorBuilder {
        let tools = [REFUND, NOTE, LOOK, FAIL, HANG, HANG_AGAIN, SHIP, SIGN_IN];
        Executor::builder(Registry::of(tools).unwrap())
            .service_arc(Arc::clone(&self.ran))
            .journal(self.journal())
    }

    /// The journal by the clock of the office, without a word on who decides.
    pub fn journal(&self) -> Journal {
        self.journal_in(self.store.clone())
    }

    pub fn journal_in(&self, store: impl Store) -> Journal {
        let clock = self.clock.clone();
        Journal::new(store).clock(move || clock.now())
    }

    /// The journal in which calls wait for Ada.
    pub fn parking(&self) -> Journal {
        self.parking_in(self.store.clone())
    }

    pub fn parking_in(&self, store: impl Store) -> Journal {
        let journal = self.journal_in(store).trust("ada", self.ada.public());
        journal.on_no_approver(OnNoApprover::Park)
    }

    /// Where nobody is asked in the process, calls wait for Ada.
    pub fn builder(&self) -> ExecutorBuilder {
        self.bare().journal(self.parking())
    }

    pub fn executor(&self) -> Executor {
        self.builder().build().unwrap()
    }

    pub fn service(&self) -> ApprovalService {
        ApprovalService::new(Arc::new(self.store.clone()))
    }

    pub async fn record(&self, call: CallId) -> CallRecord {
        self.store.get(call).await.unwrap().unwrap()
    }

    pub async fn history(&self, call: CallId) -> Vec<Entry> {
        self.store.history(call).await.unwrap()
    }

    pub async fn state(&self, call: CallId) -> State {
        self.record(call).await.state
    }

    /// Every record there is.
    pub async fn records(&self) -> Vec<CallRecord> {
        self.store.list(&Filter::default(), Page::first(100)).await.unwrap().calls
    }

    /// What Ada says counts from now on.
    pub async fn say(&self, statement: Statement) -> Result<SubmitOutcome, ApprovalError> {
        self.service().submit(self.ada.sign(&statement).unwrap(), self.clock.now()).await
    }

    pub async fn approve(&self, call: CallId) -> Result<SubmitOutcome, ApprovalError> {
        let statement = Statement::approve(&self.record(call).await, "ada", self.clock.now());
        self.say(statement).await
    }

    /// Approves a call with a secret, of which nothing can tell without the sealing key whether it shows what would run.
    pub async fn approve_unseen(&self, call: CallId) -> Result<SubmitOutcome, ApprovalError> {
        let statement = Statement::approve(&self.record(call).await, "ada", self.clock.now());
        let signed = self.ada.sign(&statement).unwrap();
        self.service().unseen().submit(signed, self.clock.now()).await
    }

    pub async fn reject(&self, call: CallId, reason: &str) -> Result<SubmitOutcome, ApprovalError> {
        let record = self.record(call).await;
        self.say(Statement::reject(&record, Some(reason.to_owned()), "ada", self.clock.now())).await
    }
}

pub fn a_refund() -> Call<'static> {
    Call::new("kept_refund", r#"{"order":"A-1"}"#)
}

#[track_caller]
pub fn suspended(outcome: Outcome) -> SuspendedCall {
    match outcome {
        Outcome::Suspended(suspended) => suspended,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
pub fn answered(outcome: Outcome) -> Answer {
    match outcome {
        Outcome::Answered(answer) => answer,
        other => panic!("{other:?}"),
    }
}

/// The states a call went through.
pub fn path(history: &[Entry]) -> String {
    history.iter().map(|entry| entry.to.name()).collect::<Vec<_>>().join(" → ")
}

/// Terms that cover any refund for the order of [`a_refund`].
pub fn terms(record: &CallRecord) -> GrantTerms {
    GrantTerms {
        scope: Scope::Forever,
        tool: record.tool.clone(),
        fingerprint: record.fingerprint.clone(),
        arguments: vec![Clause {
            pointer: "/order".to_owned(),
            is_one_of: vec!["\"A-1\"".to_owned()],
        }],
        until: None,
        uses: None,
    }
}
