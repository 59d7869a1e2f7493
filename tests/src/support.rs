//! What many tests share: an executor of a few tools, a list that tools write to, a resource that
//! tells what becomes of it, and a tool that waits until it is let go.

use std::panic::catch_unwind;
use std::pin::pin;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use futures::future::{Either, select};
use tokio::sync::{Notify, Semaphore};
use toolwright::{
    Answer, Call, Closing, Executor, ExecutorBuilder, Handle, Opening, Registry, Repair, Resource,
    ToolError, ToolEvent, ToolEventKind, tool,
};
use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing::{Dispatch, Subscriber};

/// A builder of an executor of these tools that runs everything.
pub fn builder(tools: impl IntoIterator<Item = Handle>) -> ExecutorBuilder {
    Executor::builder(Registry::of(tools).unwrap()).unrestricted()
}

/// An executor of tools that need nothing.
pub fn executor(tools: impl IntoIterator<Item = Handle>) -> Executor {
    builder(tools).build().unwrap()
}

/// An executor that reads input as it came.
pub fn strict(tools: impl IntoIterator<Item = Handle>) -> Executor {
    builder(tools).repair(Repair::Off).build().unwrap()
}

/// Makes this thread's spans and events those of a subscriber, until the guard is dropped. Beside it live two that want
/// nothing: `tracing` remembers of each place in the code whether anybody wants it, and where there is one subscriber alone it
/// asks only the thread that comes there first, whose test may have none.
pub fn subscribed(subscriber: impl Subscriber + Send + Sync + 'static) -> DefaultGuard {
    static OTHERS: LazyLock<[Dispatch; 2]> =
        LazyLock::new(|| [(); 2].map(|()| Dispatch::new(NoSubscriber::new())));
    LazyLock::force(&OTHERS);
    tracing::subscriber::set_default(subscriber)
}

/// The kind of error in an answer, `ok` where there is none.
pub fn kind(answer: &Answer) -> String {
    answer.error().map_or_else(|| "ok".to_owned(), |error| error.kind().to_owned())
}

/// What happened, in order.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub fn add(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    pub fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    pub fn count(&self, line: &str) -> usize {
        self.lines().iter().filter(|it| *it == line).count()
    }

    /// Writes one word for each event.
    pub fn listener(&self) -> impl Fn(&ToolEvent<'_>) + Send + Sync + 'static {
        let log = self.clone();
        move |event| log.add(word(&event.kind))
    }
}

pub fn word(kind: &ToolEventKind<'_>) -> &'static str {
    match kind {
        ToolEventKind::Started => "started",
        ToolEventKind::Repaired { .. } => "repaired",
        ToolEventKind::Executing => "executing",
        ToolEventKind::Reserved { .. } => "reserved",
        ToolEventKind::Cached => "cached",
        ToolEventKind::Progress { .. } => "progress",
        ToolEventKind::Completed { .. } => "completed",
        ToolEventKind::Failed { .. } => "failed",
        ToolEventKind::Abandoned { .. } => "abandoned",
        ToolEventKind::Asked { .. } => "asked",
        ToolEventKind::Suspended { .. } => "suspended",
        ToolEventKind::Retrying { .. } => "retrying",
        ToolEventKind::Judged { .. } => "judged",
        ToolEventKind::Decided { .. } => "decided",
        ToolEventKind::ApproverFailed { .. } => "approver failed",
        ToolEventKind::Expired { .. } => "expired",
        ToolEventKind::OwnerLost { .. } => "owner lost",
        ToolEventKind::Dead { .. } => "dead",
        ToolEventKind::PutBack { .. } => "put back",
        _ => "unknown",
    }
}

/// A resource that writes down how it is opened, closed and dropped.
pub struct Held<const N: usize> {
    pub log: Log,
    closing_fails: bool,
    closed: bool,
}

impl<const N: usize> Held<N> {
    pub fn open(log: &Log) -> Self {
        log.add(format!("open {N}"));
        Self { log: log.clone(), closing_fails: false, closed: false }
    }

    pub fn opener(
        log: &Log,
    ) -> impl Fn(Opening) -> std::future::Ready<Result<Self, ToolError>> + Send + Sync + 'static + use<N>
    {
        let log = log.clone();
        move |_| std::future::ready(Ok(Self::open(&log)))
    }

    pub fn closing_fails(mut self) -> Self {
        self.closing_fails = true;
        self
    }
}

impl<const N: usize> Resource for Held<N> {
    async fn close(mut self, outcome: Closing) -> Result<(), ToolError> {
        // A resource that takes its time is closed all the same.
        tokio::task::yield_now().await;
        self.closed = true;
        self.log.add(format!("close {N} {outcome:?}"));
        if self.closing_fails {
            return Err(ToolError::new("not_kept", format!("resource {N} was not kept")));
        }
        Ok(())
    }
}

impl<const N: usize> Drop for Held<N> {
    fn drop(&mut self) {
        if !self.closed {
            self.log.add(format!("drop {N}"));
        }
    }
}

/// Where calls of [`wait_for_go`] stand until they are let go.
pub struct Turnstile {
    pub entered: Semaphore,
    pub go: Semaphore,
}

impl Turnstile {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { entered: Semaphore::new(0), go: Semaphore::new(0) })
    }

    /// Ends when so many calls have entered since it was last asked.
    pub async fn entered(&self, calls: u32) {
        self.entered.acquire_many(calls).await.unwrap().forget();
    }

    pub fn let_go(&self, calls: usize) {
        self.go.add_permits(calls);
    }
}

/// Stands at the turnstile until it is let go.
#[tool(effect = read)]
pub async fn wait_for_go(turnstile: &Turnstile) -> &'static str {
    turnstile.entered.add_permits(1);
    turnstile.go.acquire().await.unwrap().forget();
    "went"
}

/// Never ends by itself.
#[tool(effect = read)]
pub async fn never_ends() {
    forever::<()>().await;
}

/// Waits longer than whatever should end it. Where nothing does, it panics, so that its test fails and does not only hang:
/// at once where the clock is paused and nothing else is waited for, or after a minute.
pub async fn forever<T>() -> T {
    let began = Instant::now();
    let watched = async {
        while began.elapsed() < Duration::from_secs(60) {
            TICKS.notified().await;
        }
    };
    // Some runtimes of tests have no clock.
    let year = || tokio::time::sleep(Duration::from_secs(365 * 86_400));
    match catch_unwind(year) {
        Ok(year) => {
            let _ended = select(pin!(watched), pin!(year)).await;
        }
        Err(_) => watched.await,
    }
    panic!("nothing has stopped this, which waits for ever")
}

/// What a future gives that something else has to end; where nothing does, its test fails and does not only hang.
pub async fn ended<T>(future: impl Future<Output = T>) -> T {
    match select(pin!(future), pin!(forever())).await {
        Either::Left((value, _)) | Either::Right((value, _)) => value,
    }
}

/// Wakes those that wait for ever now and then, so that they can look at the time.
static TICKS: LazyLock<Arc<Notify>> = LazyLock::new(|| {
    let ticks = Arc::new(Notify::new());
    let notified = Arc::clone(&ticks);
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(5));
            notified.notify_waiters();
        }
    });
    ticks
});

/// Answers.
#[tool(effect = read)]
pub async fn ping() -> &'static str {
    "pong"
}

pub fn call(name: &'static str) -> Call<'static> {
    Call::new(name, "{}")
}

/// The answer to a call that nobody else keeps, for futures that are put aside.
pub async fn answer(executor: &Executor, call: Call<'_>) -> Answer {
    executor.call(&call).await
}
