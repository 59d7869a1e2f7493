//! Tools that do what a script says, one for each effect, and a journal whose clock is tokio's.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;
use toolwright::journal::{CallRecord, Entry, Filter, Journal, MemoryStore, Page, Store};
use toolwright::retry::{Jitter, RetryPolicy};
use toolwright::{
    Answer, Call, CallId, ErrorClass, Executor, ExecutorBuilder, OnNoApprover, Registry,
    ToolContext, ToolError, ToolEventKind, tool,
};

pub const NOT_STARTED: ErrorClass = ErrorClass::NotStarted { retry_after: None };

/// Delays of 1, 2, 4 seconds and no chance.
pub const EVEN: RetryPolicy = RetryPolicy::TOOL.delay(Duration::from_secs(1)).jitter(Jitter::None);

pub fn limited(seconds: u64) -> ErrorClass {
    ErrorClass::NotStarted { retry_after: Some(Duration::from_secs(seconds)) }
}

/// What one attempt does.
#[derive(Debug, Clone)]
pub enum Step {
    Fail(ErrorClass),
    Hang,
    Panic,
    Done,
}

/// What is to be done, and what was done so far; when nothing is left, attempts succeed.
#[derive(Default)]
pub struct Script {
    steps: Mutex<VecDeque<Step>>,
    seen: Mutex<Vec<(CallId, String)>>,
}

impl Script {
    pub fn of(steps: impl IntoIterator<Item = Step>) -> Arc<Self> {
        Arc::new(Self { steps: Mutex::new(steps.into_iter().collect()), seen: Mutex::default() })
    }

    /// It fails so often in this way.
    pub fn fails(times: usize, class: ErrorClass) -> Arc<Self> {
        Self::of(vec![Step::Fail(class); times])
    }

    pub fn times(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    /// The idempotency keys, one for each attempt.
    pub fn keys(&self) -> Vec<String> {
        self.seen.lock().unwrap().iter().map(|(_, key)| key.clone()).collect()
    }

    pub fn ids(&self) -> Vec<CallId> {
        self.seen.lock().unwrap().iter().map(|(id, _)| *id).collect()
    }

    pub async fn act(&self, context: &ToolContext) -> Result<String, ToolError> {
        self.seen.lock().unwrap().push((context.call_id(), context.idempotency_key()));
        let step = self.steps.lock().unwrap().pop_front();
        let attempt = self.times();
        match step.unwrap_or(Step::Done) {
            Step::Done => Ok(format!("done in attempt {attempt}")),
            Step::Hang => crate::support::forever().await,
            Step::Panic => panic!("broken in attempt {attempt}"),
            Step::Fail(class) => {
                let message = format!("attempt {attempt} failed");
                Err(ToolError::new("scripted", message).class(class).caused_by("the script"))
            }
        }
    }
}

/// Acts by the script and changes nothing.
#[tool(effect = read)]
pub async fn scripted_read(script: &Script, context: &ToolContext) -> Result<String, ToolError> {
    script.act(context).await
}

/// Acts by the script and leaves the same end state.
#[tool(effect = idempotent)]
pub async fn scripted_again(script: &Script, context: &ToolContext) -> Result<String, ToolError> {
    script.act(context).await
}

/// Acts by the script with a key.
#[tool(effect = keyed)]
pub async fn scripted_keyed(script: &Script, context: &ToolContext) -> Result<String, ToolError> {
    script.act(context).await
}

/// Acts by the script once.
#[tool(effect = once)]
pub async fn scripted_once(script: &Script, context: &ToolContext) -> Result<String, ToolError> {
    script.act(context).await
}

/// Acts by the script as often as it says itself.
#[tool(effect = read, retry(attempts = 5, delay = "10s", max_delay = "20s"))]
pub async fn scripted_often(script: &Script, context: &ToolContext) -> Result<String, ToolError> {
    script.act(context).await
}

/// Acts by the script with a secret.
#[tool(effect = idempotent)]
pub async fn scripted_secret(
    script: &Script,
    context: &ToolContext,
    /// Not to be told.
    #[arg(secret)]
    password: String,
) -> Result<String, ToolError> {
    let _ = password;
    script.act(context).await
}

/// Acts by the script once somebody has agreed.
#[tool(effect = idempotent, approval = "it acts")]
pub async fn scripted_asking(script: &Script, context: &ToolContext) -> Result<String, ToolError> {
    script.act(context).await
}

pub fn with_script(script: &Arc<Script>) -> ExecutorBuilder {
    let tools = [
        SCRIPTED_READ,
        SCRIPTED_AGAIN,
        SCRIPTED_KEYED,
        SCRIPTED_ONCE,
        SCRIPTED_OFTEN,
        SCRIPTED_SECRET,
        SCRIPTED_ASKING,
    ];
    Executor::builder(Registry::of(tools).unwrap())
        .unrestricted()
        .service_arc(Arc::clone(script))
        .retry(EVEN)
}

/// The delays that listeners are told of, with the number of the attempt that failed.
#[derive(Clone, Default)]
pub struct Delays(Arc<Mutex<Vec<(u32, Duration)>>>);

impl Delays {
    pub fn listen(&self, builder: ExecutorBuilder) -> ExecutorBuilder {
        let heard = Arc::clone(&self.0);
        builder.listen(move |event| {
            if let ToolEventKind::Retrying { attempt, delay, .. } = event.kind {
                heard.lock().unwrap().push((attempt, delay));
            }
        })
    }

    pub fn seconds(&self) -> Vec<(u32, u64)> {
        self.0.lock().unwrap().iter().map(|(attempt, delay)| (*attempt, delay.as_secs())).collect()
    }
}

/// A journal, the script of its tools, and a clock that follows tokio's.
pub struct Desk {
    pub store: MemoryStore,
    pub script: Arc<Script>,
    began: Instant,
}

impl Desk {
    pub fn of(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { store: MemoryStore::new(), script: Script::of(steps), began: Instant::now() }
    }

    pub fn fails(times: usize, class: ErrorClass) -> Self {
        Self::of(vec![Step::Fail(class); times])
    }

    pub fn builder(&self) -> ExecutorBuilder {
        with_script(&self.script).journal(self.parking())
    }

    /// The journal in which calls wait.
    pub fn parking(&self) -> Journal {
        let began = self.began;
        Journal::new(self.store.clone()).on_no_approver(OnNoApprover::Park).clock(move || {
            let start: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
            start.checked_add(jiff::SignedDuration::try_from(began.elapsed()).unwrap()).unwrap()
        })
    }

    pub fn executor(&self) -> Executor {
        self.builder().build().unwrap()
    }

    /// The one record there is.
    pub async fn record(&self) -> CallRecord {
        let mut records = self.store.list(&Filter::default(), Page::first(9)).await.unwrap().calls;
        assert_eq!(records.len(), 1);
        records.remove(0)
    }

    pub async fn history(&self) -> Vec<Entry> {
        self.store.history(self.record().await.id).await.unwrap()
    }

    pub async fn path(&self) -> String {
        let names: Vec<_> = self.history().await.iter().map(|it| it.to.name()).collect();
        names.join(" → ")
    }
}

/// Lets a call come as far as it comes until so many attempts were made, with time standing still.
pub async fn until_tried(script: &Script, times: usize) {
    while script.times() < times {
        tokio::task::yield_now().await;
    }
    // It has the answer of the attempt, and waits.
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

/// The words of the tool's own error.
pub fn said(answer: &Answer) -> String {
    answer.error().map_or_else(|| answer.text().into_owned(), |error| error.message().to_owned())
}

pub fn again() -> Call<'static> {
    Call::new("scripted_again", "{}")
}
