//! The user of the runs, who sends another message to some runs that have ended, and cancels others.

use std::collections::{HashMap, HashSet};

use tokio::task::JoinHandle;
use toolwright_agent::durable::{Phase, RunError, Runner};

use super::course::Course;
use super::life::{AgentLife, id};

/// The user, as one process plays them.
pub struct User {
    pub agents: Runner,
    seed: u64,
    runs: u64,
    /// The messages and cancellations that are under way, one for each run.
    says: HashMap<u64, JoinHandle<Result<(), RunError>>>,
    /// The runs that have got theirs.
    said: HashSet<u64>,
}

impl User {
    pub fn new(agents: Runner, life: &AgentLife) -> Self {
        Self {
            agents,
            seed: life.seed,
            runs: life.runs,
            says: HashMap::new(),
            said: HashSet::new(),
        }
    }

    /// Looks at the runs once, and starts what is due. Returns whether nothing is left to do.
    pub async fn looks_after(&mut self) -> Result<bool, RunError> {
        let mut has_said_all = true;
        for run in 0..self.runs {
            let course = Course::of(self.seed, run);
            let (from, is_said) = match course {
                Course::TwoTexts { first, last } => (first, last),
                Course::Cancelled { from, .. } => (from, u64::MAX),
                Course::Text { .. } | Course::Late { .. } => continue,
            };
            let head = self.agents.head(&id(run)).await?;
            has_said_all &= head.cancelled.is_some() || head.turn >= is_said;
            let is_ended = head.phase == Phase::Ended;
            let is_due = match course {
                Course::TwoTexts { .. } => is_ended && head.turn == from,
                _ => !is_ended && head.turn >= from,
            };
            if is_due && self.may_say(run).await {
                let (agents, run_id) = (self.agents.clone(), id(run));
                self.says.insert(
                    run,
                    tokio::spawn(async move {
                        match course {
                            Course::TwoTexts { .. } => {
                                agents.send(&run_id, "go on").await.map(|_| ())
                            }
                            _ => agents.cancel(&run_id, "ada", "it is not needed any more").await,
                        }
                    }),
                );
            }
        }
        Ok(has_said_all)
    }

    /// Returns whether a run still has to get something, and nothing is under way for it.
    async fn may_say(&mut self, run: u64) -> bool {
        if self.says.get(&run).is_some_and(|it| !it.is_finished()) {
            return false;
        }
        let Some(said) = self.says.remove(&run) else { return !self.said.contains(&run) };
        match said.await {
            Ok(Err(error)) => {
                eprintln!("note: {}: {error}", id(run));
                true
            }
            _ => {
                self.said.insert(run);
                false
            }
        }
    }
}
