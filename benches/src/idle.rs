//! How much a worker reads from its journal while nothing happens, beside many pending calls and beside few.
//!
//! A store in front of the journal adds up the size of each answer: JSON for records and documents, `Debug` for the
//! rest. Every call waits for a person whose approver has been notified of it. A look at all pending calls comes once
//! a minute, outside of the window of ten seconds; the table shows it separately.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use jiff::Timestamp;
use tokio::runtime::{Builder, Runtime};
use toolwright::approval::{ApprovalRequest, Approver, ApproverError, Reply};
use toolwright::journal::{
    CallPage, CallRecord, CallSlot, CallSummary, CommitError, Document, Entry, Filter, Journal,
    MemoryStore, Page, State, Store, StoreError, Transaction,
};
use toolwright::{Call, CallId, Executor, Registry, tool};

use crate::measure::{Effort, print_table};

const FEW: usize = 10;
const MANY: usize = 10_000;

/// How many calls are read at once in a look at all pending calls.
const PAGE: usize = 1_000;

/// Orders articles of a shop.
#[tool(approval = "it spends money", writes())]
async fn order(
    /// Which.
    article: String,
) -> String {
    format!("ordered {article}")
}

/// An approver that records every request and decides later.
struct Later;

impl Approver for Later {
    fn ask<'a>(
        &'a self,
        _request: &'a ApprovalRequest,
    ) -> BoxFuture<'a, Result<Reply, ApproverError>> {
        ready(Ok(Reply::Noted)).boxed()
    }
}

pub fn run(effort: Effort) -> Result<()> {
    let window = match effort {
        Effort::Full => Duration::from_secs(10),
        Effort::Quick => Duration::from_secs(3),
    };
    let runtime = Builder::new_current_thread().enable_time().build()?;
    let few = Idle::beside(&runtime, FEW, window)?;
    let many = Idle::beside(&runtime, MANY, window)?;
    let heads = ["pending calls", "bytes a second", "bytes of a look at all, once a minute"];
    let mut rows = vec![heads.map(String::from).to_vec()];
    for (calls, idle) in [(FEW, &few), (MANY, &many)] {
        let second = idle.bytes as f64 / window.as_secs_f64();
        rows.push(vec![calls.to_string(), format!("{second:.0}"), idle.look_at_all.to_string()]);
    }
    print_table(&rows);
    let ratio = many.bytes as f64 / few.bytes as f64;
    println!("idle/pending ratio={ratio:.3} against=ten-pending");
    Ok(())
}

/// How many bytes were read.
struct Idle {
    bytes: u64,
    look_at_all: u64,
}

impl Idle {
    fn beside(runtime: &Runtime, calls: usize, window: Duration) -> Result<Self> {
        let (inner, read) = (MemoryStore::new(), Arc::new(AtomicU64::new(0)));
        let store = Counting { inner, read: Arc::clone(&read) };
        let store = Arc::new(store);
        let executor = Executor::builder(Registry::of([ORDER])?)
            .journal(Journal::shared(Arc::clone(&store) as Arc<dyn Store>))
            .ask(Later)
            .build()?;
        runtime.block_on(async {
            let run = executor.run("shop").start()?;
            for _ in 0..calls {
                let outcome = run.submit(&Call::new("order", r#"{"article":"tea"}"#)).await;
                ensure!(outcome.suspended().is_some(), "a call does not wait: {outcome:?}");
            }
            let worker = executor.worker().context("there is a journal")?;
            let idle = async {
                // First the worker looks at everything.
                tokio::time::sleep(Duration::from_secs(3)).await;
                let before = read.load(Ordering::Relaxed);
                tokio::time::sleep(window).await;
                read.load(Ordering::Relaxed) - before
            };
            let bytes = tokio::select! {
                bytes = idle => bytes,
                () = worker.work() => anyhow::bail!("the worker ended"),
            };
            let filter = Filter { states: vec![State::Pending], ..Filter::default() };
            let before = read.load(Ordering::Relaxed);
            let mut page = Page::first(PAGE);
            let mut seen = 0;
            loop {
                let some = store.summaries(&filter, page).await?;
                seen += some.len();
                match some.next {
                    Some(last) => page = page.after(last),
                    None => break,
                }
            }
            ensure!(seen == calls, "{seen} of {calls} calls are pending");
            Ok(Self { bytes, look_at_all: read.load(Ordering::Relaxed) - before })
        })
    }
}

/// A store that counts what is read.
struct Counting {
    inner: MemoryStore,
    read: Arc<AtomicU64>,
}

impl Counting {
    async fn counted<T>(
        &self,
        asked: BoxFuture<'_, Result<T, StoreError>>,
        length: impl Fn(&T) -> usize,
    ) -> Result<T, StoreError> {
        let answer = asked.await?;
        self.read.fetch_add(length(&answer) as u64, Ordering::Relaxed);
        Ok(answer)
    }
}

fn json(value: &impl serde::Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.len())
}

fn debug(value: &impl std::fmt::Debug) -> usize {
    format!("{value:?}").len()
}

impl Store for Counting {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        self.inner.commit(unit, now)
    }

    toolwright::pass_on_leases!(inner);

    fn get<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<Option<CallRecord>, StoreError>> {
        self.counted(self.inner.get(call), json).boxed()
    }

    fn at<'a>(
        &'a self,
        place: &'a CallSlot,
    ) -> BoxFuture<'a, Result<Option<CallRecord>, StoreError>> {
        self.counted(self.inner.at(place), json).boxed()
    }

    fn list<'a>(
        &'a self,
        filter: &'a Filter,
        page: Page,
    ) -> BoxFuture<'a, Result<CallPage<CallRecord>, StoreError>> {
        self.counted(self.inner.list(filter, page), |found| json(&found.calls)).boxed()
    }

    fn summaries<'a>(
        &'a self,
        filter: &'a Filter,
        page: Page,
    ) -> BoxFuture<'a, Result<CallPage<CallSummary>, StoreError>> {
        self.counted(self.inner.summaries(filter, page), |found| debug(&found.calls)).boxed()
    }

    fn history<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        self.counted(self.inner.history(call), json).boxed()
    }

    fn document<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Document>, StoreError>> {
        self.counted(self.inner.document(key), debug).boxed()
    }

    fn documents<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Document>, StoreError>> {
        self.counted(self.inner.documents(prefix), debug).boxed()
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        self.inner.changed()
    }

    fn is_durable(&self) -> bool {
        self.inner.is_durable()
    }
}
