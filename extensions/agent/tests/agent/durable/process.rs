//! Processes that share a journal: each has an executor and agents of its own. A process dies by being dropped at a commit.

use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Notify;
use toolwright::approval::{ApprovalService, ApproverKey};
use toolwright::dialect::Dialect;
use toolwright::journal::{CommitError, Journal, MemoryStore, Store, Transaction};
use toolwright::provider::ToolCall;
use toolwright::{CallId, Executor, ExecutorBuilder, OnNoApprover, Registry, ToolContext, tool};
use toolwright_agent::durable::{Progress, RunError, Runner, RunnerBuilder};
use toolwright_agent::{Agent, AgentBuilder, Model, ModelAnswer, ModelError, ModelRequest};

use crate::support::Log;

/// Looks a word up.
#[tool(effect = read)]
pub async fn find(
    log: &Log,
    /// Which.
    word: String,
) -> String {
    log.add(format!("find {word}"));
    format!("the meaning of {word}")
}

/// Sends a message, once for each key.
#[tool(effect = keyed)]
pub async fn send(
    log: &Log,
    context: &ToolContext,
    /// What.
    text: String,
) -> String {
    log.add(format!("send {text} {}", context.idempotency_key()));
    format!("sent {text}")
}

/// Pays, when a person agrees.
#[tool(effect = once, approval = "it pays")]
pub async fn pay(
    log: &Log,
    /// How much.
    amount: u32,
) -> String {
    log.add(format!("pay {amount}"));
    format!("paid {amount}")
}

/// The model of a provider, which knows nothing of processes: its answer depends on the history alone.
pub struct Provider {
    answers: Vec<ModelAnswer>,
    pub requests: AtomicUsize,
}

impl Provider {
    pub fn new(answers: impl IntoIterator<Item = ModelAnswer>) -> Arc<Self> {
        Arc::new(Self { answers: answers.into_iter().collect(), requests: AtomicUsize::new(0) })
    }

    pub fn asked(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

impl Model for Provider {
    fn name(&self) -> &str {
        "provider"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let is_answer = |it: &&toolwright_agent::Message| {
            matches!(it, toolwright_agent::Message::Assistant { .. })
        };
        let answer = self.answers.get(request.history.iter().filter(is_answer).count()).cloned();
        Box::pin(async move {
            answer.ok_or_else(|| ModelError::new("no_more", "the provider has no more answers"))
        })
    }
}

/// An answer that calls these tools.
pub fn calls<'a>(calls: impl IntoIterator<Item = (&'a str, &'a str)>) -> ModelAnswer {
    let call = |(index, (name, arguments)): (usize, (&str, &str))| ToolCall {
        id: Some(format!("call_{index}")),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    ModelAnswer::new("I call.", calls.into_iter().enumerate().map(call).collect::<Vec<_>>())
}

/// The world outside of processes.
#[derive(Clone, Default)]
pub struct World {
    pub store: Option<MemoryStore>,
    pub log: Log,
    /// How far the clocks are ahead, in seconds.
    ahead: Arc<AtomicI64>,
    /// When the clocks began to go as tokio's does.
    begun: Option<(Timestamp, tokio::time::Instant)>,
    pub key: Arc<Mutex<Option<Arc<ApproverKey>>>>,
}

impl World {
    pub fn new() -> Self {
        let key = Arc::new(ApproverKey::generate("ada").unwrap());
        let (store, key) = (Some(MemoryStore::new()), Arc::new(Mutex::new(Some(key))));
        Self { store, key, ..Self::default() }
    }

    /// Sets the clocks to the next noon, so that a test of a few hours is within one day.
    pub fn at_noon(self) -> Self {
        let day = 24 * 60 * 60;
        let until_noon = (day / 2 - self.now().as_second()).rem_euclid(day);
        self.ahead.fetch_add(until_noon, Ordering::SeqCst);
        self
    }

    /// A world whose clocks go as tokio's does, which tests pause.
    pub fn on_tokio_time() -> Self {
        let begun = Some((Timestamp::now(), tokio::time::Instant::now()));
        Self { begun, ..Self::new() }
    }

    pub fn store(&self) -> MemoryStore {
        self.store.clone().unwrap()
    }

    pub fn key(&self) -> Arc<ApproverKey> {
        self.key.lock().unwrap().clone().unwrap()
    }

    pub fn pass(&self, time: Duration) {
        self.ahead.fetch_add(i64::try_from(time.as_secs()).unwrap(), Ordering::SeqCst);
    }

    /// The same world, seen by a process whose clock is off by so many seconds.
    pub fn with_clock_off_by(&self, seconds: i64) -> Self {
        let ahead = self.ahead.load(Ordering::SeqCst) + seconds;
        Self { ahead: Arc::new(AtomicI64::new(ahead)), ..self.clone() }
    }

    /// Sets the clock back by so many seconds.
    pub fn set_back(&self, seconds: i64) {
        self.ahead.fetch_sub(seconds, Ordering::SeqCst);
    }

    pub fn now(&self) -> Timestamp {
        let now = self.begun.map_or_else(Timestamp::now, |(time, begun)| time + begun.elapsed());
        now + SignedDuration::from_secs(self.ahead.load(Ordering::SeqCst))
    }

    /// A process on the journal.
    pub fn process(&self, model: &Arc<impl Model + 'static>) -> Runner {
        self.on(self.store(), model).build().unwrap()
    }

    /// A process whose store is another's view of the journal.
    pub fn on(&self, store: impl Store, model: &Arc<impl Model + 'static>) -> RunnerBuilder {
        Runner::builder().agent("clerk", self.agent(store, model).build().unwrap())
    }

    pub fn agent(
        &self,
        store: impl Store,
        model: &Arc<impl Model + 'static>,
    ) -> AgentBuilder<Executor> {
        Agent::on(self.executor(store), Arc::clone(model))
    }

    pub fn executor(&self, store: impl Store) -> Executor {
        let tools = Registry::of([FIND, SEND, PAY]).unwrap();
        self.executor_of(store, tools).unrestricted().build().unwrap()
    }

    /// An executor of these tools, without a policy.
    pub fn executor_of(&self, store: impl Store, tools: Registry) -> ExecutorBuilder {
        let journal = self.journal(Arc::new(store));
        Executor::builder(tools).service(self.log.clone()).journal(journal)
    }

    pub fn journal(&self, store: Arc<dyn Store>) -> Journal {
        let world = self.clone();
        Journal::shared(store)
            .trust("ada", self.key().public())
            .on_no_approver(OnNoApprover::Park)
            .lease(Duration::from_secs(30))
            .clock(move || world.now())
    }

    pub fn approvals(&self) -> ApprovalService {
        let world = self.clone();
        ApprovalService::new(Arc::new(self.store())).clock(move || world.now())
    }

    pub async fn approve(&self, call: CallId) {
        let service = self.approvals();
        service.approve(call, &self.key()).await.unwrap();
    }
}

/// A store on which its process dies or stands still at one of its commits.
pub struct Deadly {
    inner: MemoryStore,
    /// Dies at this commit, counted from 0 over commits: two for each, before and after.
    at: u64,
    seen: AtomicU64,
    dead: Arc<Notify>,
    /// A process that stands still goes on with this.
    pub goes_on: Arc<Notify>,
}

impl Deadly {
    pub fn at(world: &World, at: u64) -> (Self, Arc<Notify>) {
        let dead = Arc::new(Notify::new());
        let (inner, seen) = (world.store(), AtomicU64::new(0));
        let goes_on = Arc::default();
        (Self { inner, at, seen, dead: Arc::clone(&dead), goes_on }, dead)
    }

    async fn reached(&self) {
        if self.seen.fetch_add(1, Ordering::SeqCst) == self.at {
            self.dead.notify_one();
            self.goes_on.notified().await;
        }
    }
}

impl Store for Deadly {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        Box::pin(async move {
            self.reached().await;
            let committed = self.inner.commit(unit, now).await;
            self.reached().await;
            committed
        })
    }

    fn renew<'a>(
        &'a self,
        call: CallId,
        epoch: u64,
        until: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        self.inner.renew(call, epoch, until)
    }

    fn acknowledge<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<(), CommitError>> {
        Box::pin(async move {
            self.reached().await;
            let acknowledged = self.inner.acknowledge(call).await;
            self.reached().await;
            acknowledged
        })
    }

    toolwright::pass_on_questions!(inner);
}

/// Drives until the process dies: nothing where it died.
pub async fn until_dead(
    driven: impl Future<Output = Result<Progress, RunError>>,
    dead: &Notify,
) -> Option<Result<Progress, RunError>> {
    tokio::select! {
        biased;
        driven = driven => Some(driven),
        () = dead.notified() => None,
    }
}
