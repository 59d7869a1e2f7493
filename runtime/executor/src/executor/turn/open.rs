//! A turn whose calls are still arriving. Calls that change nothing may begin at once. Other calls begin when the turn
//! is complete, because only a call of a complete model answer may be recorded in the journal.

use std::fmt;
use std::sync::Arc;

use tokio::runtime::Handle;
use tracing::Instrument as _;

use super::answers::TurnAnswers;
use super::early::Early;
use super::{Run, TurnWait};
use crate::batch::Batch;
use crate::call::{CallFailure, InTurn, Slot};
use crate::executor::calling::perform_unrecorded;
use toolwright_core::call::Call;
use toolwright_core::footprint::Footprint;
use toolwright_core::tool::Effect;
use toolwright_policy::policy::PolicyDecision;

/// A turn of a run whose calls are still arriving. Made by [`Run::open_turn`].
///
/// If an open turn is dropped before [`finish`](Self::finish), it cancels the calls that have begun, and records
/// nothing of the turn.
#[must_use = "a turn is answered by `finish`"]
pub struct OpenTurn {
    run: Run,
    turn: u64,
    calls: Vec<Arc<Call<'static>>>,
    batch: Batch,
    early: Early,
}

impl Run {
    /// Opens a turn whose calls are still arriving, while a model's answer streams. [`OpenTurn::push`] takes each call
    /// when it is complete, and [`OpenTurn::finish`] answers all calls, as [`turn`](Self::turn) does.
    ///
    /// A call begins before `finish` only if its tool has the effect `read` and makes no calls itself, neither its tool
    /// nor a policy requires approval, it is not recorded in a journal, and it conflicts with no earlier
    /// call of the turn. Such calls run on the tokio runtime in
    /// which `push` is called. Without a runtime, every call waits for `finish`. Every call also waits if the run is
    /// not pinned to a catalog and the registry has changed since the executor was built.
    ///
    /// ```
    /// use toolwright::{Call, Executor, Registry, tool};
    ///
    /// /// Adds two numbers.
    /// #[tool(effect = read)]
    /// async fn add(
    ///     /// The first.
    ///     a: i64,
    ///     /// The second.
    ///     b: i64,
    /// ) -> i64 {
    ///     a + b
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let executor = Executor::builder(Registry::of([ADD])?).build()?;
    /// let mut turn = executor.run("ticket-7").start()?.open_turn(1);
    /// for arguments in [r#"{"a":1,"b":2}"#, r#"{"a":3,"b":4}"#] {
    ///     turn.push(Call::new("add", arguments));
    /// }
    /// let answers = turn.finish().await?;
    /// assert_eq!(answers.answers()[1].text(), "7");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_turn(&self, number: u64) -> OpenTurn {
        let (calls, batch, early) = Default::default();
        OpenTurn { run: self.clone(), turn: number, calls, batch, early }
    }
}

impl OpenTurn {
    /// Adds a call that has arrived to the turn, and returns its index in the turn.
    pub fn push(&mut self, call: Call<'static>) -> usize {
        let index = self.calls.len();
        let is_repeated =
            call.id.is_some() && self.calls.iter().any(|earlier| earlier.id == call.id);
        let call = Arc::new(call);
        self.calls.push(Arc::clone(&call));
        if is_repeated {
            self.batch.push(None);
            return index;
        }
        let may_begin = self.run.planned(&mut self.batch, &call);
        if may_begin
            && self.changes_nothing(&call)
            && let Ok(runtime) = Handle::try_current()
        {
            let (run, span) = (Arc::clone(&self.run.state), tracing::Span::current());
            let slot = Slot { turn: self.turn, index: u32::try_from(index).unwrap_or(u32::MAX) };
            let in_turn = InTurn { slot, waited: None };
            let answered = async move { perform_unrecorded(&run, &call, Some(&in_turn)).await };
            self.early.add(index, runtime.spawn(answered.instrument(span)));
        }
        index
    }

    /// Completes the turn: runs the calls that have not begun, and returns one answer for each call, in the order of
    /// the calls.
    ///
    /// # Errors
    /// Those of [`Run::turn`].
    pub async fn finish(self) -> Result<TurnAnswers, CallFailure> {
        let calls: Vec<&Call<'_>> = self.calls.iter().map(|call| &**call).collect();
        self.run.answer_turn(self.turn, &calls, self.early, TurnWait::Results).await
    }

    /// Answers the final calls of the turn. If a call has begun, and `calls` has a different call at its index, the
    /// begun call is cancelled and its answer is dropped. For a call that continues in the background, the answer says
    /// that the call is running, as with [`Run::turn_in_background`].
    ///
    /// # Errors
    /// Those of [`Run::turn`].
    #[doc(hidden)]
    pub async fn finish_as(mut self, calls: &[Call<'_>]) -> Result<TurnAnswers, CallFailure> {
        for (index, pushed) in self.calls.iter().enumerate() {
            let is_it = |call: &Call<'_>| {
                (call.name(), call.arguments(), &call.id)
                    == (pushed.name(), pushed.arguments(), &pushed.id)
            };
            if !calls.get(index).is_some_and(is_it) {
                drop(self.early.take(index));
            }
        }
        let calls: Vec<&Call<'_>> = calls.iter().collect();
        self.run.answer_turn(self.turn, &calls, self.early, TurnWait::HandOvers).await
    }

    /// Returns whether the call may run before the turn is complete.
    fn changes_nothing(&self, call: &Call<'_>) -> bool {
        let run = &self.run.state;
        let Some(plan) = run.ready.plan(call.name()) else { return false };
        let is_journaled = run.core.journal.as_ref().is_some_and(|journal| journal.reads);
        let is_read = plan.entry.definition.effect == Effect::Read;
        let writes =
            |touched: &Footprint| touched.resources_written().is_none_or(|it| !it.is_empty());
        // A tool that makes calls may change something through its children, even if the tool itself only reads.
        if is_journaled || !is_read || plan.makes_calls || plan.entry.definition.is_external {
            return false;
        }
        let facts = self.run.facts(call);
        facts.is_some_and(|facts| facts.approval.is_none() && !facts.touches().is_none_or(writes))
            && (run.is_open() || run.judge(call).is_ok_and(|it| it == PolicyDecision::Allow))
    }
}

impl fmt::Debug for OpenTurn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("OpenTurn")
            .field("run", &self.run.id())
            .field("turn", &self.turn)
            .field("calls", &self.calls)
            .finish_non_exhaustive()
    }
}
