//! The calls of one turn: checked as a whole, then answered one after the other, in their order.

mod answers;

use std::collections::HashMap;

use futures::future::join_all;

use super::outcome::{CallFailure, Outcome};
use super::{Executor, Swept};
use crate::lifecycle::{Asking, Lifecycle};
use crate::stage;
pub use answers::TurnAnswers;
use toolwright_core::call::Call;
use toolwright_core::context::CallId;
use toolwright_core::error::Class;
use toolwright_core::error::ToolError;
use toolwright_core::output::Answer;
use toolwright_journal::journal::CallSlot;
use toolwright_journal::journal::State;

impl Executor {
    /// A call that may have to wait: unlike [`call`](Self::call) this does not wait for a person, but says that
    /// somebody has to.
    pub async fn submit(&self, call: &Call<'_>) -> Outcome {
        match Lifecycle::of(&self.run) {
            Some(journaled) => {
                let place = CallSlot { run: self.run.id().to_owned(), turn: None, index: 0 };
                journaled.outcome(CallId::new(), call, place, Asking::Now).await
            }
            None => Outcome::Answered(self.call(call).await),
        }
    }

    /// Answers the calls of a turn: waits for every decision, and returns one answer for each call, in the order of
    /// the calls. [`submit_turn`](Self::submit_turn) does not wait.
    ///
    /// Calls run one after the other, in their order; a call that waits for a person holds up no other, and runs when
    /// it is decided. `turn` is the application's count of its run's turns. With a journal a call is known by run,
    /// turn and index: the same turn made again, after a crash for instance, runs nothing twice and returns the
    /// recorded answers.
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
    /// let executor = Executor::builder(Registry::of([ADD, FINISH])?).unrestricted().build()?;
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
    /// When the host has to act before the turn can be answered: the journal fails, it has other calls at this turn,
    /// nobody can be asked and the executor fails then, a call cannot run here, or the executor shuts down while a call
    /// waits. The first such failure in call order. Every call is still in the journal, so the same turn can be made
    /// again. Without a journal it never fails.
    pub async fn turn(&self, turn: u64, calls: &[Call<'_>]) -> Result<TurnAnswers, CallFailure> {
        let outcomes = self.submit_turn(turn, calls).await;
        if let Some(failure) = outcomes.iter().find_map(Outcome::failure) {
            return Err(failure.clone());
        }
        let answered = outcomes.into_iter().zip(calls).map(|(outcome, call)| async move {
            match (outcome, Lifecycle::of(&self.run)) {
                (Outcome::Answered(answer), _) => Ok(answer),
                (outcome, Some(journaled)) => journaled.await_answer(outcome, call).await,
                (Outcome::Failed(failure), None) => Err(failure),
                (Outcome::Suspended(_), None) => Err(CallFailure::NoJournal),
            }
        });
        // A failure of one call drops none of the others, which may be running.
        let answers: Vec<Answer> =
            join_all(answered).await.into_iter().collect::<Result<_, _>>()?;
        let terminal = self.first_terminal(turn, calls, &answers).await?;
        Ok(TurnAnswers::new(answers, terminal))
    }

    /// The index of the first call of a terminal tool that succeeded.
    async fn first_terminal(
        &self,
        turn: u64,
        calls: &[Call<'_>],
        answers: &[Answer],
    ) -> Result<Option<usize>, CallFailure> {
        for (index, (call, answer)) in calls.iter().zip(answers).enumerate() {
            let is_terminal = || {
                let found = stage::find(&self.run, call.name());
                found.is_ok_and(|found| found.definition().terminal)
            };
            if answer.is_error() || !is_terminal() {
                continue;
            }
            // A call that was put into a plan is answered, and has not run.
            let is_planned = match Lifecycle::of(&self.run) {
                Some(journaled) => journaled.is_planned(&self.place(turn, index), call).await?,
                None => false,
            };
            if !is_planned {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    fn place(&self, turn: u64, index: usize) -> CallSlot {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        CallSlot { run: self.run.id().to_owned(), turn: Some(turn), index }
    }

    /// Submits the calls of a turn without waiting for people: each has an outcome of its own, in their order. They
    /// run one after the other; one that has to wait holds up no other, and people are asked when the others are
    /// answered. [`turn`](Self::turn) waits for every decision.
    ///
    /// A call is known by run, turn and index: the same turn made again, after a crash for instance, gives what
    /// the journal knows of it and runs nothing twice. `turn` is the application's count of its run's turns.
    ///
    /// A provider's id that stands in a turn twice is refused the second time.
    pub async fn submit_turn(&self, turn: u64, calls: &[Call<'_>]) -> Vec<Outcome> {
        let mut first: HashMap<&str, usize> = HashMap::new();
        let repeated: Vec<bool> = calls
            .iter()
            .enumerate()
            .map(|(index, call)| match call.id.as_deref() {
                Some(id) => *first.entry(id).or_insert(index) != index,
                None => false,
            })
            .collect();
        let places: Vec<CallSlot> = (0..calls.len()).map(|index| self.place(turn, index)).collect();
        if let Some(journaled) = Lifecycle::of(&self.run)
            && let Some(outcomes) = journaled.contradicted(&places, calls).await
        {
            return outcomes;
        }
        let mut outcomes = Vec::with_capacity(calls.len());
        for ((place, call), is_repeated) in places.into_iter().zip(calls).zip(repeated) {
            outcomes.push(match Lifecycle::of(&self.run) {
                _ if is_repeated => Outcome::Answered(repeated_id(call).into()),
                Some(journaled) => {
                    journaled.outcome(CallId::new(), call, place, Asking::Later).await
                }
                None => Outcome::Answered(self.call(call).await),
            });
        }
        let Some(journaled) = Lifecycle::of(&self.run) else { return outcomes };
        // Who needs nobody has been answered; now people are asked about the others.
        for (outcome, call) in outcomes.iter_mut().zip(calls) {
            if let Some(waits) = outcome.suspended().filter(|it| it.state == State::Pending) {
                let decided = journaled.ask_about(waits.call, call).await;
                *outcome = journaled.retried(decided, call, None).await;
            }
        }
        outcomes
    }

    /// Goes on with a call that waited: runs it if it may run now, or says what became of it. Only a call that is
    /// approved runs, and only once, whoever else resumes it.
    pub async fn resume(&self, call: CallId) -> Outcome {
        let Some(journaled) = Lifecycle::of(&self.run) else {
            return CallFailure::NoJournal.into();
        };
        journaled.resume(call).await
    }

    /// Waits until a call has its answer, and goes on with it whenever that is possible here. One that is
    /// indeterminate is given back: only a person or its tool can find out what became of it.
    pub async fn wait(&self, call: CallId) -> Outcome {
        let Some(journaled) = Lifecycle::of(&self.run) else {
            return CallFailure::NoJournal.into();
        };
        journaled.wait(call, None).await
    }

    /// Notes that the run has taken the answer of a call, so that it is listed as undelivered no more. A call that runs
    /// after its answer, as one of a plan that was accepted, goes on as if nothing had happened.
    ///
    /// # Errors
    /// When there is no journal, it does not know the call, the call has no answer yet, or the journal fails.
    pub async fn acknowledge(&self, call: CallId) -> Result<(), CallFailure> {
        self.journaled()?.acknowledge(call).await
    }

    /// Ends this run: what of it has not begun is cancelled, and nothing of it begins any more. How many calls
    /// were cancelled.
    ///
    /// # Errors
    /// When there is no journal, or it fails.
    pub async fn end_run(&self) -> Result<usize, CallFailure> {
        self.journaled()?.end_run(self.run.id()).await
    }

    /// One look at everything that is due in the journal: deadlines, lost owners, decided calls, people to be
    /// told. An executor of a run looks at the calls of that run alone.
    ///
    /// # Errors
    /// When there is no journal, or it fails.
    pub async fn sweep(&self) -> Result<Swept, CallFailure> {
        self.journaled()?.sweep().await
    }

    /// Sweeps at once, and again whenever something may be due, until the executor is drained. To be spawned
    /// beside whatever the application does; any number may work on one journal, in any number of processes.
    ///
    /// # Errors
    /// At once when there is no journal. Failures of the journal are traced, and it looks again.
    pub async fn work(&self) -> Result<(), CallFailure> {
        self.journaled()?.work().await;
        Ok(())
    }

    fn journaled(&self) -> Result<Lifecycle<'_>, CallFailure> {
        Lifecycle::of(&self.run).ok_or(CallFailure::NoJournal)
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
    .class(Class::Invalid)
    .hint("call again, with an id of its own")
}
