//! Works on a run from its first turn to its last. Turns are numbered, so a run that is started again repeats the
//! same turns, and the journal returns the recorded answers of their calls.

use std::path::PathBuf;
use std::time::Duration;

use futures::future::try_join_all;
use toolwright::journal::{SqliteStore, State, Store as _};
use toolwright::{Answer, Call, CallFailure, Outcome, Run, SuspendedCall, Worker};

use crate::model::{self, Task};
use crate::say::say;

/// How often a waiting call is read again if the store reports no change.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// How the work on a run ended.
pub enum Ended {
    /// The model has finished, and every call is answered.
    Answered,
    /// A call waits for a person.
    Waits,
}

/// A scripted model and its run.
pub struct Agent {
    pub run: Run,
    /// Resumes the waiting calls of the run.
    pub worker: Worker,
    pub store: SqliteStore,
    /// The path of the store, as the command line names it.
    pub journal: PathBuf,
    pub task: Task,
}

impl Agent {
    /// Works until every call is answered, however long people think.
    pub async fn work(&self) -> anyhow::Result<Ended> {
        for number in 1.. {
            let calls = model::turn(self.task, number);
            if calls.is_empty() {
                break;
            }
            let outcomes = self.turn(number, &calls).await;
            let answers = calls.iter().zip(outcomes);
            try_join_all(answers.map(|(call, outcome)| self.answer(call, outcome))).await?;
        }
        say(format_args!("the model has finished"));
        Ok(Ended::Answered)
    }

    /// Works until a call has to wait.
    pub async fn work_once(&self) -> anyhow::Result<Ended> {
        for number in 1.. {
            let calls = model::turn(self.task, number);
            if calls.is_empty() {
                break;
            }
            let mut waits = 0;
            for (call, outcome) in calls.iter().zip(self.turn(number, &calls).await) {
                match outcome {
                    Outcome::Suspended(suspended) => {
                        self.print(call, &suspended);
                        waits += 1;
                    }
                    outcome => {
                        self.answer(call, outcome).await?;
                    }
                }
            }
            if waits > 0 {
                return Ok(Ended::Waits);
            }
        }
        say(format_args!("the model has finished"));
        Ok(Ended::Answered)
    }

    async fn turn(&self, number: u64, calls: &[Call<'_>]) -> Vec<Outcome> {
        for call in calls {
            say(format_args!(
                "turn {number}: the model asks for {} {}",
                call.name(),
                call.arguments()
            ));
        }
        self.run.submit_turn(number, calls).await
    }

    /// Waits for the answer of a call, and prints each change of its state.
    async fn answer(&self, call: &Call<'_>, outcome: Outcome) -> Result<Answer, CallFailure> {
        let mut outcome = outcome;
        let mut printed = None;
        loop {
            let waits = match outcome {
                Outcome::Answered(answer) => {
                    say(format_args!("{} is answered: {}", call.name(), answer.text()));
                    return Ok(answer);
                }
                Outcome::Suspended(waits) => waits,
                Outcome::Failed(failure) => return Err(failure),
            };
            let state =
                (waits.state, waits.request.as_ref().map(|it| (it.generation, it.digest.clone())));
            if printed.as_ref() != Some(&state) {
                self.print(call, &waits);
                printed = Some(state);
            }
            // Subscribe before looking, so that no change is missed.
            let changed = self.store.changed();
            outcome = self.worker.resume(waits.call).await;
            if let Outcome::Suspended(_) = outcome {
                let _ = tokio::time::timeout(LOOK_AGAIN, changed).await;
            }
        }
    }

    /// Prints what a call waits for, and which command would help.
    fn print(&self, call: &Call<'_>, waits: &SuspendedCall) {
        let (tool, id) = (call.name(), waits.call);
        let journal = format!("--journal sqlite:{} --key FILE", self.journal.display());
        match (waits.state, &waits.request) {
            (State::Pending, Some(request)) => {
                let shown = request.preview.as_deref().unwrap_or(&request.arguments);
                say(format_args!("{tool} waits for a person: {} ({shown})", request.reason));
                say(format_args!("  approve it with: toolwright approvals approve {id} {journal}"));
            }
            (State::Indeterminate, _) => {
                say(format_args!(
                    "{tool} was interrupted: it may have happened, so it is not run again"
                ));
                say(format_args!(
                    "  find out, then say: toolwright indeterminate resolve {id} --happened RESULT {journal}"
                ));
                say(format_args!(
                    "                  or: toolwright indeterminate resolve {id} --did-not-happen {journal}"
                ));
            }
            (State::Running, _) => say(format_args!(
                "{tool} is running, here or in another process; if that one is gone, its lease runs out"
            )),
            (state, _) => say(format_args!("{tool} is {state}")),
        }
    }
}
