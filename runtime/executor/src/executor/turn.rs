//! The calls of one turn: checked as a whole, then answered one after the other, in their order.

use std::collections::HashMap;

use super::kept::{Asking, Kept};
use super::outcome::{CallFailure, Outcome};
use super::{Executor, Swept};
use toolwright_core::call::Call;
use toolwright_core::context::CallId;
use toolwright_core::error::{Class, ToolError};
use toolwright_journal::journal::{Place, State};

impl Executor {
    /// A call that may have to wait: unlike [`call`](Self::call) this does not wait for a person, but says that
    /// somebody has to.
    pub async fn submit(&self, call: &Call<'_>) -> Outcome {
        match Kept::of(&self.run) {
            Some(kept) => {
                let place = Place { run: self.run.id().to_owned(), turn: None, index: 0 };
                kept.outcome(CallId::new(), call, place, Asking::Now).await
            }
            None => Outcome::Answered(self.call(call).await),
        }
    }

    /// The calls of a turn, each with an outcome of its own, in their order. They run one after the other; one
    /// that has to wait holds up no other, and people are asked when the others are answered.
    ///
    /// A call is known by run, turn and index: the same turn made again, after a crash for instance, gives what
    /// the journal knows of it and runs nothing twice. `turn` is the application's count of its run's turns.
    ///
    /// A provider's id that stands in a turn twice is refused the second time.
    pub async fn turn(&self, turn: u64, calls: &[Call<'_>]) -> Vec<Outcome> {
        let mut first: HashMap<&str, usize> = HashMap::new();
        let repeated: Vec<bool> = calls
            .iter()
            .enumerate()
            .map(|(index, call)| match call.id.as_deref() {
                Some(id) => *first.entry(id).or_insert(index) != index,
                None => false,
            })
            .collect();
        let place = |index| Place { run: self.run.id().to_owned(), turn: Some(turn), index };
        let places: Vec<Place> = (0_u32..).take(calls.len()).map(place).collect();
        if let Some(kept) = Kept::of(&self.run)
            && let Some(outcomes) = kept.contradicted(&places, calls).await
        {
            return outcomes;
        }
        let mut outcomes = Vec::with_capacity(calls.len());
        for ((place, call), is_repeated) in places.into_iter().zip(calls).zip(repeated) {
            outcomes.push(match Kept::of(&self.run) {
                _ if is_repeated => Outcome::Answered(repeated_id(call).into()),
                Some(kept) => kept.outcome(CallId::new(), call, place, Asking::Later).await,
                None => Outcome::Answered(self.call(call).await),
            });
        }
        let Some(kept) = Kept::of(&self.run) else { return outcomes };
        // Who needs nobody has been answered; now people are asked about the others.
        for (outcome, call) in outcomes.iter_mut().zip(calls) {
            if let Some(waits) = outcome.suspended().filter(|it| it.state == State::Pending) {
                let decided = kept.ask_about(waits.call, call).await;
                *outcome = kept.retried(decided, call, None).await;
            }
        }
        outcomes
    }

    /// Goes on with a call that waited: runs it if it may run now, or says what became of it. Only a call that is
    /// approved runs, and only once, whoever else resumes it.
    pub async fn resume(&self, call: CallId) -> Outcome {
        let Some(kept) = Kept::of(&self.run) else { return CallFailure::NoJournal.into() };
        kept.resume(call).await
    }

    /// Waits until a call has its answer, and goes on with it whenever that is possible here. One that is
    /// indeterminate is given back: only a person or its tool can find out what became of it.
    pub async fn wait(&self, call: CallId) -> Outcome {
        let Some(kept) = Kept::of(&self.run) else { return CallFailure::NoJournal.into() };
        kept.wait(call, None).await
    }

    /// Notes that the run has taken the answer of a call, so that it is listed as undelivered no more. A call that runs
    /// after its answer, as one of a plan that was accepted, goes on as if nothing had happened.
    ///
    /// # Errors
    /// When there is no journal, it does not know the call, the call has no answer yet, or the journal fails.
    pub async fn acknowledge(&self, call: CallId) -> Result<(), CallFailure> {
        self.kept()?.acknowledge(call).await
    }

    /// Ends this run: what of it has not begun is cancelled, and nothing of it begins any more. How many calls
    /// were cancelled.
    ///
    /// # Errors
    /// When there is no journal, or it fails.
    pub async fn end_run(&self) -> Result<usize, CallFailure> {
        self.kept()?.end_run(self.run.id()).await
    }

    /// One look at everything that is due in the journal: deadlines, lost owners, decided calls, people to be
    /// told. An executor of a run looks at the calls of that run alone.
    ///
    /// # Errors
    /// When there is no journal, or it fails.
    pub async fn sweep(&self) -> Result<Swept, CallFailure> {
        self.kept()?.sweep().await
    }

    /// Sweeps at once, and again whenever something may be due, until the executor is drained. To be spawned
    /// beside whatever the application does; any number may work on one journal, in any number of processes.
    ///
    /// # Errors
    /// At once when there is no journal. Failures of the journal are traced, and it looks again.
    pub async fn work(&self) -> Result<(), CallFailure> {
        self.kept()?.work().await;
        Ok(())
    }

    fn kept(&self) -> Result<Kept<'_>, CallFailure> {
        Kept::of(&self.run).ok_or(CallFailure::NoJournal)
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
