//! The supplier carries out the calls that were handed over, and supplies their results. As a service outside would,
//! it stores each result with its token first, and supplies a result again while it does not know its fate.
//!
//! How it supplies a result depends on the call: once, twice, two at the same time, after one that the schema refuses,
//! or around or after the deadline.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use futures::StreamExt as _;
use futures::future::try_join;
use jiff::Timestamp;
use toolwright::approval::{ApproverKey, KeyError};
use toolwright::journal::{HandedOver, SupplyError};
use toolwright::{CallId, Executor, ToolError};

use crate::life::Life;
use crate::marks::{self, Attempt, Mark, Offer, Refusal, What};
use crate::person::Arguments;
use crate::point::Point;
use crate::script::{FETCH_SOON, Manner, Run};
use crate::tools::{World, result};

/// How many calls it carries out at once.
const AT_ONCE: usize = 4;

/// How often it supplies a result again in one life, while the journal fails.
const TRIES: u32 = 3;

/// How long before the deadline of a short call it supplies the result.
const JUST_BEFORE: Duration = Duration::from_millis(15);

/// How long after the deadline a slow supplier supplies the result.
const TOO_LATE: Duration = Duration::from_millis(30);

/// How long it waits where the application ends the run of the call, so that mostly the end comes first.
const END_FIRST: Duration = Duration::from_millis(150);

/// Returns the key of the tokens, which is the same in every process.
///
/// # Errors
/// When the key cannot be made.
pub fn key() -> Result<ApproverKey, KeyError> {
    ApproverKey::from_seed("executor", [9; 32])
}

/// The supplier of one process.
pub struct Supplier {
    executor: Executor,
    world: Arc<World>,
    life: u32,
    seed: u64,
    /// How many results it has made.
    made: AtomicU32,
    /// The calls that it has taken up.
    seen: Mutex<HashSet<CallId>>,
    /// The calls whose results it supplies later, each with the time.
    later: Mutex<Vec<(Timestamp, HandedOver)>>,
    /// The results with an unknown fate, each with the tries that are left.
    unsure: Mutex<Vec<(Offer, u32)>>,
}

/// How results are supplied for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Once,
    Twice,
    TwoAtOnce,
    /// After a result that the schema refuses, and with a token that was altered.
    AfterWrong,
}

impl Way {
    /// Returns the way for a call.
    fn of(token: &str) -> Self {
        let sum = token.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte));
        match fastrand::Rng::with_seed(sum).u32(0..6) {
            0 => Self::Once,
            1 => Self::Twice,
            2 => Self::AfterWrong,
            _ => Self::TwoAtOnce,
        }
    }
}

impl Supplier {
    pub(crate) fn of(executor: Executor, world: Arc<World>, life: &Life) -> anyhow::Result<Self> {
        let unsure = unsure(marks::read(&life.folder)?);
        Ok(Self {
            executor,
            world,
            life: life.number,
            seed: life.seed,
            made: AtomicU32::new(0),
            seen: Mutex::default(),
            later: Mutex::default(),
            unsure: Mutex::new(unsure.into_iter().map(|it| (it, TRIES)).collect()),
        })
    }

    /// Supplies what is to be supplied now.
    pub(crate) async fn supply(&self) -> anyhow::Result<()> {
        let unsure = std::mem::take(&mut *lock(&self.unsure));
        for (offer, tries) in unsure {
            self.offer(offer, tries - 1).await?;
        }
        let mut now = self.due();
        for handed_over in self.executor.handed_over().await? {
            if !lock(&self.seen).insert(handed_over.call) {
                continue;
            }
            match self.time(&handed_over)? {
                Some(time) => lock(&self.later).push((time, handed_over)),
                None => now.push(handed_over),
            }
        }
        let mut supplied =
            futures::stream::iter(now).map(|it| self.carry_out(it)).buffer_unordered(AT_ONCE);
        while let Some(supplied) = supplied.next().await {
            supplied?;
        }
        Ok(())
    }

    /// Returns when the result of a call is supplied; `None` for at once.
    fn time(&self, handed_over: &HandedOver) -> anyhow::Result<Option<Timestamp>> {
        let until = handed_over.until;
        let run = handed_over.run.strip_prefix("run-").and_then(|number| number.parse().ok());
        let run = Run::of(self.seed, run.context("a call of another run was handed over")?);
        Ok(match arguments(handed_over)?.manner {
            Manner::Slow => Some(until + TOO_LATE),
            _ if handed_over.tool == FETCH_SOON => Some(until - JUST_BEFORE),
            _ if run.is_ended => Some(Timestamp::now() + END_FIRST),
            _ => None,
        })
    }

    /// Takes out the calls whose time has come.
    fn due(&self) -> Vec<HandedOver> {
        let now = Timestamp::now();
        let mut later = lock(&self.later);
        let (due, not_yet) = later.drain(..).partition(|(time, _)| *time <= now);
        *later = not_yet;
        due.into_iter().map(|(_, handed_over)| handed_over).collect()
    }

    async fn carry_out(&self, handed_over: HandedOver) -> anyhow::Result<()> {
        let of = || self.make(&handed_over);
        match Way::of(&of()?.attempt.token) {
            Way::Once => self.offer(of()?, TRIES).await,
            Way::Twice => {
                self.offer(of()?, TRIES).await?;
                self.offer(of()?, TRIES).await
            }
            Way::TwoAtOnce => {
                let (one, other) = (self.offer(of()?, TRIES), self.offer(of()?, TRIES));
                try_join(one, other).await.map(|_| ())
            }
            Way::AfterWrong => {
                self.supply_wrong(&handed_over).await?;
                self.offer(of()?, TRIES).await
            }
        }
    }

    /// Makes a result that no other one equals.
    fn make(&self, handed_over: &HandedOver) -> anyhow::Result<Offer> {
        let Arguments { token, manner, amount, .. } = arguments(handed_over)?;
        let number = self.made.fetch_add(1, Ordering::SeqCst);
        let is_error = manner == Manner::Wrong;
        let what = if is_error { "no".to_owned() } else { result(&token, amount) };
        let text = format!("{what} by {}-{number}", self.life);
        let (call, key) = (handed_over.call.to_string(), handed_over.idempotency_key.clone());
        Ok(Offer {
            attempt: Attempt { token, call, key, amount },
            right: handed_over.token.to_string(),
            until: handed_over.until,
            text,
            is_error,
        })
    }

    /// Supplies a result, and records what became of it.
    async fn offer(&self, offer: Offer, tries: u32) -> anyhow::Result<()> {
        self.world.outside.add(What::Offered(offer.clone()))?;
        self.world.deadly.reached(Point::Offered);
        let call = offer.attempt.call.parse().context("a mark names no call")?;
        let json = serde_json::to_string(&offer.text)?;
        let result = match offer.is_error {
            true => Err(ToolError::new("wrong", offer.text.clone())),
            false => Ok(json.as_str()),
        };
        let supplied = self.executor.supply(call, &offer.right, result).await;
        let (token, text) = (offer.attempt.token.clone(), offer.text.clone());
        let refusal = match supplied {
            Ok(()) => {
                self.world.deadly.reached(Point::Accepted);
                return Ok(self.world.outside.add(What::Accepted { token, text })?);
            }
            Err(error) => refusal(error),
        };
        if refusal == Refusal::NotRecorded && tries > 0 {
            lock(&self.unsure).push((offer, tries));
        }
        Ok(self.world.outside.add(What::Refused { token, text, refusal })?)
    }

    /// Supplies what must be refused. What is accepted nevertheless is recorded, without an offer.
    async fn supply_wrong(&self, handed_over: &HandedOver) -> anyhow::Result<()> {
        let Offer { attempt, right, .. } = self.make(handed_over)?;
        // The signature ends the token, so a digit of it is changed.
        let last = if right.ends_with('0') { "1" } else { "0" };
        let altered = format!("{}{last}", &right[..right.len() - 1]);
        for (right, json) in [(&right, "7"), (&altered, "\"with an altered token\"")] {
            if self.executor.supply(handed_over.call, right, Ok(json)).await.is_ok() {
                let (token, text) = (attempt.token.clone(), json.to_owned());
                self.world.outside.add(What::Accepted { token, text })?;
            }
        }
        Ok(())
    }
}

fn arguments(handed_over: &HandedOver) -> anyhow::Result<Arguments> {
    Arguments::of(&handed_over.arguments).context("the arguments of a call are not as intended")
}

fn refusal(error: SupplyError) -> Refusal {
    match error {
        SupplyError::Ended { state, .. } => Refusal::Ended(state),
        SupplyError::NotRecorded { .. } => Refusal::NotRecorded,
        other => Refusal::Other(other.to_string()),
    }
}

/// Returns the results of earlier processes whose fate they did not record.
fn unsure(marks: Vec<Mark>) -> Vec<Offer> {
    let mut open = HashMap::new();
    for mark in marks {
        match mark.what {
            What::Offered(offer) => {
                open.insert(offer.text.clone(), offer);
            }
            What::Refused { refusal: Refusal::NotRecorded, .. } => {}
            What::Accepted { text, .. } | What::Refused { text, .. } => {
                open.remove(&text);
            }
            _ => {}
        }
    }
    open.into_values().collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
