//! The application under test. It makes the turns of its runs, waits for calls that have to wait, and records their
//! answers outside of the journal.
//!
//! After a restart it makes the turns again whose answers it has not recorded.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use futures::StreamExt as _;
use toolwright::journal::{CallSlot, Store};
use toolwright::{Answer, Call, CallId, Executor, Outcome, Worker};

use crate::aim::leads_to;
use crate::life::{Ended, Life};
use crate::marks::{self, What};
use crate::person;
use crate::point::Point;
use crate::script::{Intended, Run};
use crate::supplier::Supplier;
use crate::tools::World;

/// How many runs the application works on at once.
const AT_ONCE: usize = 4;

/// How many runs of earlier processes the application takes over at once.
const TAKEN_UP: usize = 4;

/// How long the application pauses between two looks at waiting calls.
const LOOK_AGAIN: Duration = Duration::from_millis(30);

/// The application.
pub struct Application {
    pub(crate) life: Life,
    pub(crate) executor: Executor,
    /// The executor's worker.
    pub(crate) worker: Worker,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) world: Arc<World>,
    pub(crate) supplier: Supplier,
    /// The calls without an answer, each with the worker of its run.
    waiting: Mutex<BTreeMap<CallId, (Worker, Intended, CallSlot)>>,
}

impl Application {
    pub(crate) fn new(
        life: Life,
        executor: Executor,
        store: Arc<dyn Store>,
        world: Arc<World>,
    ) -> anyhow::Result<Self> {
        let worker = executor.worker().context("the executor has no journal")?;
        let supplier = Supplier::of(executor.clone(), Arc::clone(&world), &life)?;
        Ok(Self { life, executor, worker, store, world, supplier, waiting: Mutex::default() })
    }

    /// Works until nothing is left to do, or a signal ends it.
    pub(crate) async fn live(self: Arc<Self>) -> anyhow::Result<Ended> {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        let worker = tokio::spawn({
            let worker = self.worker.clone();
            async move { worker.work().await }
        });
        let person = tokio::spawn({
            let application = Arc::clone(&self);
            async move { application.looked_after().await }
        });
        let supplier = tokio::spawn({
            let application = Arc::clone(&self);
            async move { application.supplied().await }
        });
        let runs = tokio::spawn({
            let application = Arc::clone(&self);
            async move { application.runs().await }
        });
        tokio::select! {
            ended = runs => ended??,
            _ = terminate.recv() => {}
        }
        // The application shuts down: it begins nothing new, lets running calls finish within the grace time, and
        // releases the rest.
        let drained = self.executor.drain(Duration::from_millis(self.life.grace)).await;
        worker.await?;
        person.abort();
        supplier.abort();
        Ok(if drained.cancelled == 0 { Ended::Finished } else { Ended::Released })
    }

    async fn runs(self: Arc<Self>) -> anyhow::Result<()> {
        let begun = Instant::now();
        let works = Duration::from_millis(self.life.works);
        let known = marks::read(&self.life.folder)?;
        let intended: BTreeSet<u64> = known
            .iter()
            .filter_map(|mark| match mark.what {
                What::Intended { run } => Some(run),
                _ => None,
            })
            .collect();
        let open = self.open(&known, &intended);
        let next = intended.last().map_or(0, |last| last + 1);
        let aim = self.life.kill.as_ref().and_then(|(point, _)| point.parse().ok());
        let fits = |number: &u64| {
            aim.is_none_or(|point| leads_to(point, &Run::of(self.life.seed, *number)))
        };
        let begins = (next..).filter(fits).take(self.life.runs);
        let numbers = open.into_iter().chain(begins);
        futures::stream::iter(numbers)
            .take_while(|_| std::future::ready(begun.elapsed() < works))
            .map(|number| self.make(number))
            .buffer_unordered(AT_ONCE)
            .for_each(|made| async move {
                if let Err(error) = made {
                    eprintln!("error: a run could not be made: {error:#}");
                }
            })
            .await;
        while begun.elapsed() < works && !self.is_idle() {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Ok(())
    }

    /// Returns some of the runs with answers that are not recorded.
    fn open(&self, known: &[marks::Mark], intended: &BTreeSet<u64>) -> Vec<u64> {
        let noted = noted(known);
        let is_open = |number: &u64| {
            let run = Run::of(self.life.seed, *number);
            run.calls.iter().any(|call| !noted.contains_key(call.token.as_str()))
        };
        let mut open: Vec<u64> = intended.iter().copied().filter(is_open).collect();
        let mut random = fastrand::Rng::with_seed(self.life.seed ^ u64::from(self.life.number));
        random.shuffle(&mut open);
        open.truncate(TAKEN_UP);
        open
    }

    /// Makes the turn of a run.
    pub(crate) async fn make(&self, number: u64) -> anyhow::Result<()> {
        let script = Run::of(self.life.seed, number);
        let run = self
            .executor
            .run(script.id())
            .user("bob")
            .session("shop")
            .start()
            .context("the run cannot be started")?;
        let worker = run.worker().context("the executor has no journal")?;
        self.world.outside.add(What::Intended { run: number })?;
        self.world.deadly.reached(Point::Intended);
        let calls: Vec<Call<'static>> = script.calls.iter().map(Intended::call).collect();
        let outcomes = run.submit_turn(1, &calls).await;
        for ((index, intended), outcome) in (0_u32..).zip(&script.calls).zip(outcomes) {
            let place = CallSlot { run: script.id(), turn: Some(1), index };
            match outcome {
                Outcome::Answered(answer) => self.note(&worker, intended, &place, &answer).await?,
                Outcome::Suspended(waits) => {
                    let waits_for = (worker.clone(), intended.clone(), place);
                    self.waiting().insert(waits.call, waits_for);
                }
                other => eprintln!("error: call {} cannot go on: {other:?}", intended.token),
            }
        }
        if script.is_ended {
            worker.end_run(run.id()).await?;
        }
        Ok(())
    }

    /// Looks after waiting calls, and plays the people who decide.
    async fn looked_after(&self) {
        loop {
            let sure = |token: &str| is_looked_into(self.life.seed, token);
            let decided = async {
                person::decide(&self.store).await?;
                person::find_out(&self.store, &self.world.outside, sure).await?;
                self.look().await
            };
            if let Err(error) = decided.await {
                eprintln!("error: what waits could not be looked after: {error:#}");
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Plays those who carry out the calls that were handed over.
    async fn supplied(&self) {
        loop {
            if let Err(error) = self.supplier.supply().await {
                eprintln!("error: what was handed over could not be supplied: {error:#}");
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Looks once at every waiting call.
    pub(crate) async fn look(&self) -> anyhow::Result<()> {
        let waiting: Vec<_> = self.waiting().iter().map(|(id, it)| (*id, it.clone())).collect();
        let mut looks = futures::stream::iter(waiting)
            .map(|(id, (worker, intended, place))| async move {
                match worker.resume(id).await {
                    Outcome::Answered(answer) => {
                        self.note(&worker, &intended, &place, &answer).await?;
                        self.waiting().remove(&id);
                    }
                    Outcome::Suspended(_) => {}
                    other => eprintln!("error: call {} cannot go on: {other:?}", intended.token),
                }
                anyhow::Ok(())
            })
            .buffer_unordered(AT_ONCE);
        while let Some(looked) = looks.next().await {
            looked?;
        }
        Ok(())
    }

    /// Records an answer outside, and then acknowledges it to the journal.
    async fn note(
        &self,
        worker: &Worker,
        intended: &Intended,
        place: &CallSlot,
        answer: &Answer,
    ) -> anyhow::Result<()> {
        self.world.deadly.reached(Point::Answered);
        if answer.error().is_some_and(|error| error.kind() == "shutting_down") {
            return Ok(());
        }
        let (text, is_error) = (answer.text().into_owned(), answer.is_error());
        self.world.outside.add(What::Noted { token: intended.token.clone(), text, is_error })?;
        self.world.deadly.reached(Point::Noted);
        // Reads are not journalled by default, so the journal may not know the call.
        if let Some(record) = self.store.at(place).await? {
            worker.acknowledge(record.id).await?;
            self.world.deadly.reached(Point::Acknowledged);
        }
        Ok(())
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.waiting().is_empty()
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, BTreeMap<CallId, (Worker, Intended, CallSlot)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the recorded answers, by call.
pub(crate) fn noted(known: &[marks::Mark]) -> HashMap<&str, &str> {
    let noted = known.iter().filter_map(|mark| match &mark.what {
        What::Noted { token, text, .. } => Some((token.as_str(), text.as_str())),
        _ => None,
    });
    noted.collect()
}

/// Returns whether the person finds out if an indeterminate call happened; true for three calls of four.
pub(crate) fn is_looked_into(seed: u64, token: &str) -> bool {
    let sum = token.bytes().fold(seed, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    fastrand::Rng::with_seed(sum).u32(0..4) > 0
}
