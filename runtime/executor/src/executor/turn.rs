//! Runs the calls of one turn: checks the turn as a whole, runs calls concurrently if they do not conflict, and answers
//! them in the order of the turn.

mod answers;
mod background;
mod early;
mod open;
mod side_by_side;

use std::collections::HashSet;
use std::sync::Arc;

use futures::future::join_all;

use self::early::Early;
use super::calling::Calling;
use super::run::Run;
use crate::call::{CallFailure, Outcome, RunState};
use crate::lifecycle::{Asking, Lifecycle, WaitUntil, on_heap};
use crate::stage;
pub use answers::{SubmittedTurn, TurnAnswers};
pub use background::{BackgroundCall, is_under_way};
pub use open::OpenTurn;
use toolwright_core::call::Call;
use toolwright_core::context::CallId;
use toolwright_core::error::{ErrorClass, ToolError};
use toolwright_core::output::Answer;
use toolwright_journal::journal::{CallSlot, State};

impl Run {
    /// Answers the calls of a turn: waits for every decision, and returns one answer for each call, in the order of the
    /// calls. [`submit_turn`](Self::submit_turn) does not wait for decisions.
    ///
    /// Each call begins when the earlier calls with which it conflicts have ended, within the limits of the executor
    /// and of its tool. All other calls run concurrently, on the task of the caller. If a call fails, panics or is
    /// cancelled, the other calls continue. A call that waits for a person does not delay the others, and runs when the
    /// person has decided.
    ///
    /// `turn` is the number of the turn in its run, counted by the application. With a journal, a call is identified by
    /// run, turn and index. If the same turn is made again, for instance after a crash, a recorded call continues
    /// instead of being made anew. If it has an answer, it does not run again, and that answer is returned. Reads that
    /// the journal does not record run again.
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
    /// /// Ends the conversation.
    /// #[tool(effect = read, terminal)]
    /// async fn finish() {}
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let executor = Executor::builder(Registry::of([ADD, FINISH])?).build()?;
    /// let run = executor.run("ticket-7").start()?;
    /// let turn = run.turn(1, &[Call::new("add", r#"{"a":1,"b":2}"#), Call::new("finish", "{}")]).await?;
    /// assert_eq!(turn.answers()[0].text(), "3");
    /// assert_eq!(turn.terminal_call(), Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the host application has to act before the turn can be answered: the journal fails or has other calls at
    /// this turn, no approver can be asked and the executor is set to fail then, a call cannot run in this process, or
    /// the executor shuts down while a call waits. If several calls fail in such a way, the error is that of the first
    /// in call order. The recorded calls are still in the journal, so the same turn can be made again. Without a
    /// journal, this method never fails.
    pub async fn turn(&self, turn: u64, calls: &[Call<'_>]) -> Result<TurnAnswers, CallFailure> {
        let calls: Vec<&Call<'_>> = calls.iter().collect();
        self.answer_turn(turn, &calls, Early::none(), TurnWait::Results).await
    }

    /// Answers the calls of a turn, of which some may have begun already.
    async fn answer_turn(
        &self,
        turn: u64,
        calls: &[&Call<'_>],
        early: Early,
        awaited: TurnWait,
    ) -> Result<TurnAnswers, CallFailure> {
        let Some(lifecycle) = Lifecycle::of(&self.state) else {
            let answers = self.perform_unrecorded(turn, calls, early).await;
            let terminal =
                answers.iter().zip(calls).position(|(it, call)| self.is_result(it, call));
            return Ok(TurnAnswers::new(answers, terminal));
        };
        let outcomes = self.submit_recorded(lifecycle, turn, calls, early).await;
        if let Some(failure) = outcomes.iter().find_map(Outcome::failure) {
            return Err(failure.clone());
        }
        let waiting = outcomes.into_iter().zip(calls);
        let answered = waiting.map(|(outcome, call)| {
            let until = match awaited == TurnWait::HandOvers && self.is_background(call) {
                true => WaitUntil::HandedOver,
                false => WaitUntil::Answered,
            };
            lifecycle.await_answer(until, outcome, call)
        });
        // Waits for all calls, because a failure of one must not drop the others, which may be running.
        let outcomes = join_all(answered).await.into_iter().collect::<Result<_, _>>()?;
        self.answers_of(lifecycle, turn, calls, outcomes).await
    }

    /// Submits the calls of a turn, and returns the outcome of each call, in the order of the calls. Unlike
    /// [`turn`](Self::turn), this method does not wait for a decision that comes later. The calls run concurrently, as
    /// those of [`turn`](Self::turn) do. A call that has to wait for a person does not delay the others. The approver
    /// is asked about such a call after the other calls have run. If the approver decides when it is asked, the call
    /// continues.
    ///
    /// `turn` is the number of the turn in its run, counted by the application. With a journal, a call is identified by
    /// run, turn and index. If the same turn is made again, for instance after a crash, a recorded call continues
    /// instead of being made anew. If it has an answer, it does not run again, and that answer is returned. Reads that
    /// the journal does not record run again.
    ///
    /// A call is refused if an earlier call of the turn has the same provider id.
    ///
    /// ```
    /// use toolwright::journal::{Journal, MemoryStore};
    /// use toolwright::{Call, Executor, OnNoApprover, Registry, tool};
    ///
    /// /// Tells the time.
    /// #[tool(effect = read)]
    /// async fn tell_time() {}
    ///
    /// /// Refunds an order.
    /// #[tool(effect = once, approval = "it sends money")]
    /// async fn refund() {}
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let builder = Executor::builder(Registry::of([TELL_TIME, REFUND])?).unrestricted();
    /// let executor = builder.journal(Journal::new(MemoryStore::new()).on_no_approver(OnNoApprover::Park)).build()?;
    /// let run = executor.run("ticket-7").start()?;
    /// let calls = [Call::new("refund", "{}"), Call::new("tell_time", "{}")];
    /// let outcomes = run.submit_turn(1, &calls).await;
    /// assert!(outcomes[0].suspended().is_some(), "a person has to decide");
    /// assert!(outcomes[1].suspended().is_none(), "answered all the same");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn submit_turn(&self, turn: u64, calls: &[Call<'_>]) -> Vec<Outcome> {
        let calls: Vec<&Call<'_>> = calls.iter().collect();
        match Lifecycle::of(&self.state) {
            Some(lifecycle) => self.submit_recorded(lifecycle, turn, &calls, Early::none()).await,
            None => {
                let answers = self.perform_unrecorded(turn, &calls, Early::none()).await;
                answers.into_iter().map(Outcome::from).collect()
            }
        }
    }

    /// Submits the calls of a turn as [`submit_turn`](Self::submit_turn) does. The caller may have recorded answers
    /// that the journal of calls does not contain; the calls with such answers do not run again. An answer in the
    /// journal takes precedence. For a call that continues in the background, the answer says that the call is running.
    #[doc(hidden)]
    pub async fn submit_turn_again(
        &self,
        turn: u64,
        calls: &[Call<'_>],
        known: Vec<Option<Answer>>,
    ) -> Result<SubmittedTurn, CallFailure> {
        let calls: Vec<&Call<'_>> = calls.iter().collect();
        let Some(lifecycle) = Lifecycle::of(&self.state) else {
            return self
                .answer_turn(turn, &calls, Early::answered(known), TurnWait::HandOvers)
                .await
                .map(SubmittedTurn::Answered);
        };
        let outcomes = self.submit_recorded(lifecycle, turn, &calls, Early::answered(known)).await;
        if let Some(failure) = outcomes.iter().find_map(Outcome::failure) {
            return Err(failure.clone());
        }
        let is_open = |(outcome, call): (&Outcome, &&Call<'_>)| {
            outcome.suspended().is_some() && self.under_way(outcome, call).is_none()
        };
        if outcomes.iter().zip(&calls).any(is_open) {
            let known = outcomes.into_iter().zip(&calls);
            let known = known.map(|(outcome, call)| match self.under_way(&outcome, call) {
                Some(answer) => Outcome::Answered(answer),
                None => outcome,
            });
            return Ok(SubmittedTurn::Waiting(known.collect()));
        }
        self.answers_of(lifecycle, turn, &calls, outcomes).await.map(SubmittedTurn::Answered)
    }

    /// Answers a turn as [`turn`](Self::turn) does. Calls whose answers the caller has recorded do not run again.
    #[doc(hidden)]
    pub async fn turn_again(
        &self,
        turn: u64,
        calls: &[Call<'_>],
        known: Vec<Option<Answer>>,
    ) -> Result<TurnAnswers, CallFailure> {
        let calls: Vec<&Call<'_>> = calls.iter().collect();
        self.answer_turn(turn, &calls, Early::answered(known), TurnWait::Results).await
    }

    /// Runs the calls of a turn that no journal records.
    async fn perform_unrecorded(
        &self,
        turn: u64,
        calls: &[&Call<'_>],
        mut early: Early,
    ) -> Vec<Answer> {
        let run = &self.state;
        self.side_by_side(turn, calls, |in_turn, call| {
            let begun = early.take(in_turn.index());
            async move {
                match begun {
                    Some(begun) => {
                        let answer = begun.answer(call.name()).await;
                        run.read_text().note(&answer);
                        answer
                    }
                    None => Calling::of_turn(run, call, Some(&in_turn)).await,
                }
            }
        })
        .await
    }

    /// Runs the calls of a turn that a journal records.
    async fn submit_recorded(
        &self,
        lifecycle: Lifecycle<'_>,
        turn: u64,
        calls: &[&Call<'_>],
        mut early: Early,
    ) -> Vec<Outcome> {
        let places: Vec<CallSlot> = (0..calls.len()).map(|index| self.place(turn, index)).collect();
        if let Some(outcomes) = lifecycle.find_contradiction(&places, calls).await {
            return outcomes;
        }
        // The ids are made in call order, because the calls of a plan run in the order of their ids.
        let ids: Vec<CallId> = calls.iter().map(|_| CallId::new()).collect();
        let submitted = self.side_by_side(turn, calls, |in_turn, call| {
            let begun = early.take(in_turn.index());
            let place = self.place(turn, in_turn.index());
            let id = ids.get(in_turn.index()).copied().unwrap_or_else(CallId::new);
            async move {
                match begun {
                    // If the journal already has an answer for this slot, that answer is used.
                    Some(begun) if matches!(lifecycle.at(&place, call.name()).await, Ok(None)) => {
                        Outcome::Answered(begun.answer(call.name()).await)
                    }
                    _ => {
                        on_heap(|| {
                            lifecycle.outcome(id, call, place, Asking::Later, Some(&in_turn))
                        })
                        .await
                    }
                }
            }
        });
        let mut outcomes: Vec<Outcome> = submitted.await;
        // No call of the turn is running any more, so people are asked about the pending calls now.
        for (outcome, call) in outcomes.iter_mut().zip(calls) {
            if let Some(waits) = outcome.suspended().filter(|it| asks(it.state)) {
                let decided = on_heap(|| lifecycle.ask_about(waits.call, call)).await;
                *outcome = lifecycle.retry_soon(decided, call, None).await;
            }
        }
        let mut noted = Vec::with_capacity(outcomes.len());
        for (outcome, call) in outcomes.into_iter().zip(calls) {
            noted.push(lifecycle.noted_as_read(outcome, call.name()).await);
        }
        noted
    }

    /// Returns the index of the first call of a terminal tool that succeeded.
    async fn first_terminal(
        &self,
        lifecycle: Lifecycle<'_>,
        turn: u64,
        calls: &[&Call<'_>],
        answers: &[Answer],
    ) -> Result<Option<usize>, CallFailure> {
        for (index, (call, answer)) in calls.iter().zip(answers).enumerate() {
            // A call in a plan has an answer, but its tool has not run.
            if self.is_result(answer, call)
                && !lifecycle.is_planned(&self.place(turn, index), call).await?
            {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// Returns whether this answer is the successful result of a terminal tool.
    fn is_result(&self, answer: &Answer, call: &Call<'_>) -> bool {
        let is_terminal = || {
            let found = stage::find(&self.state, call.name());
            found.is_ok_and(|found| found.definition().terminal)
        };
        !answer.is_error() && is_terminal()
    }

    fn place(&self, turn: u64, index: usize) -> CallSlot {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        CallSlot { run: self.id().to_owned(), turn: Some(turn), index }
    }
}

/// Until when a caller of a turn waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TurnWait {
    /// Until each call has its result.
    Results,
    /// Until each call has its result. A call that continues in the background only has to be handed over.
    HandOvers,
}

impl RunState {
    /// Submits a call outside of turns, without waiting for people.
    pub(super) async fn submit(self: &Arc<Self>, call: &Call<'_>) -> Outcome {
        match Lifecycle::of(self) {
            Some(lifecycle) => {
                let place = CallSlot { run: self.id().to_owned(), turn: None, index: 0 };
                on_heap(|| lifecycle.outcome(CallId::new(), call, place, Asking::Now, None)).await
            }
            None => Calling::new(self, call).await.into(),
        }
    }
}

/// Returns whether the call or one of its children waits for a decision.
fn asks(state: State) -> bool {
    matches!(state, State::Pending | State::Waiting)
}

/// The ids that a provider gave to the earlier calls of a turn.
#[derive(Default)]
struct ProviderIds<'a>(HashSet<&'a str>);

impl<'a> ProviderIds<'a> {
    /// Adds the provider id of a call. Returns whether an earlier call of the turn has the same id.
    fn is_repeated(&mut self, call: &'a Call<'_>) -> bool {
        call.id.as_deref().is_some_and(|id| !self.0.insert(id))
    }
}

fn repeated_id(call: &Call<'_>) -> ToolError {
    let id = call.id.as_deref().unwrap_or_default();
    ToolError::new(
        "repeated_call_id",
        format!(
            "another call of this turn has the id `{id}`; this one of `{}` was not run",
            call.name()
        ),
    )
    .class(ErrorClass::Invalid)
    .hint("call again, with an id of its own")
}
