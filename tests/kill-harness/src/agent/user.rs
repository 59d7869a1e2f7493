//! Plays the user of the runs, who sends messages to runs that have ended and to runs that work, goes back to an
//! earlier turn, and cancels runs.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;
use toolwright::unstable::changes::{ChangingCalls, FileChanges, RestoredFiles};
use toolwright::{CallId, ToolError};
use toolwright_agent::durable::{Head, Phase, RunError, Runner};

use super::course::Course;
use super::life::{AgentLife, id, id_again};
use crate::line;

/// The turn to which a user goes back.
pub const BACK_TO: u64 = 1;

/// How many messages each process sends to a run that works.
const MESSAGES: u32 = 2;

/// A message that the user sends to a run that works.
#[derive(Debug, Serialize, Deserialize)]
pub struct Said {
    pub run: u64,
    /// The text of the message, which no other message has.
    pub text: String,
    /// Whether the runner has accepted the message.
    pub is_taken: bool,
}

/// Reads the messages that the processes of a folder sent to runs that worked.
///
/// # Errors
/// When it cannot be read.
pub fn said(folder: &Path) -> io::Result<Vec<Said>> {
    crate::marks::lines(&path(folder))
}

fn path(folder: &Path) -> PathBuf {
    folder.join("said")
}

/// The user, as one process plays them.
pub struct User {
    pub agents: Runner,
    seed: u64,
    life: u32,
    runs: u64,
    said_file: File,
    /// How many messages the user has sent to each run that works.
    messages: HashMap<u64, u32>,
    /// What the user is doing with each run: one thing at a time.
    acts: HashMap<u64, JoinHandle<Result<(), RunError>>>,
    /// The runs with which the user is done.
    done: HashSet<u64>,
}

impl User {
    pub fn new(agents: Runner, life: &AgentLife) -> io::Result<Self> {
        let said_file = OpenOptions::new().append(true).create(true).open(path(&life.folder))?;
        Ok(Self {
            agents,
            seed: life.seed,
            life: life.number,
            runs: life.runs,
            said_file,
            messages: HashMap::new(),
            acts: HashMap::new(),
            done: HashSet::new(),
        })
    }

    /// Looks at the runs once, and does what is due. Returns whether the user is done with all runs.
    pub async fn looks_after(&mut self) -> anyhow::Result<bool> {
        let mut has_done_all = true;
        for run in 0..self.runs {
            let course = Course::of(self.seed, run);
            let head = match course {
                Course::Text { .. } | Course::Late { .. } => continue,
                _ => self.agents.head(&id(run)).await?,
            };
            has_done_all &= self.has_done(course, run, &head).await?;
            if is_due(course, &head) && self.may_act(course, run).await {
                self.act(course, run)?;
            }
        }
        Ok(has_done_all)
    }

    /// Returns whether the user is done with a run.
    async fn has_done(&self, course: Course, run: u64, head: &Head) -> anyhow::Result<bool> {
        Ok(match course {
            Course::TwoTexts { last, .. } => head.turn >= last,
            Course::Cancelled { .. } => head.cancelled.is_some(),
            Course::Steered { .. } => self.acts.get(&run).is_none_or(JoinHandle::is_finished),
            Course::Rewound { .. } => match self.agents.head(&id_again(run)).await {
                Ok(head) => head.phase == Phase::Ended,
                Err(RunError::NoSuchRun { .. }) => false,
                Err(error) => return Err(error.into()),
            },
            Course::Text { .. } | Course::Late { .. } => true,
        })
    }

    fn act(&mut self, course: Course, run: u64) -> anyhow::Result<()> {
        let (agents, id) = (self.agents.clone(), id(run));
        let act =
            match course {
                Course::TwoTexts { .. } => {
                    tokio::spawn(async move { agents.send(&id, "go on").await.map(drop) })
                }
                Course::Steered { .. } => {
                    let number = self.messages.entry(run).or_default();
                    *number += 1;
                    let text = format!("also {run}-{}-{number}", self.life);
                    let mut said = Said { run, text: text.clone(), is_taken: false };
                    let mut file = self.said_file.try_clone()?;
                    file.write_all(line::of(&said)?.as_bytes())?;
                    file.sync_data()?;
                    tokio::spawn(async move {
                        agents.send(&id, &text).await?;
                        said.is_taken = true;
                        let line = line::of(&said).unwrap_or_default();
                        if let Err(error) = file.write_all(line.as_bytes()) {
                            eprintln!("error: {error}");
                        }
                        Ok(())
                    })
                }
                Course::Rewound { .. } => tokio::spawn(async move {
                    let new = format!("{id}-again");
                    agents.rewind(&id, BACK_TO, Some(&new), &NoFiles).await.map(drop)
                }),
                _ => tokio::spawn(async move {
                    agents.cancel(&id, "ada", "it is not needed any more").await
                }),
            };
        self.acts.insert(run, act);
        Ok(())
    }

    /// Returns whether the user may act on a run: they are not done with it, and no earlier act is under way.
    async fn may_act(&mut self, course: Course, run: u64) -> bool {
        if self.acts.get(&run).is_some_and(|it| !it.is_finished()) {
            return false;
        }
        let is_steered = matches!(course, Course::Steered { .. });
        if let Some(act) = self.acts.remove(&run) {
            match act.await {
                Ok(Err(error)) => eprintln!("note: {}: {error}", id(run)),
                _ if is_steered => {}
                _ => _ = self.done.insert(run),
            }
        }
        match is_steered {
            true => self.messages.get(&run).is_none_or(|said| *said < MESSAGES),
            false => !self.done.contains(&run),
        }
    }
}

/// Returns whether it is time for the user to act on a run.
fn is_due(course: Course, head: &Head) -> bool {
    let is_ended = head.phase == Phase::Ended;
    match course {
        Course::TwoTexts { first, .. } => is_ended && head.turn == first,
        Course::Steered { .. } => !is_ended && head.turn >= 1,
        Course::Rewound { .. } => is_ended,
        Course::Cancelled { from, .. } => !is_ended && head.turn >= from,
        Course::Text { .. } | Course::Late { .. } => false,
    }
}

/// A workspace in which no call changes a file.
struct NoFiles;

impl FileChanges for NoFiles {
    fn examine<'a>(
        &'a self,
        _: &'a ChangingCalls,
    ) -> BoxFuture<'a, Result<RestoredFiles, ToolError>> {
        Box::pin(async { Ok(RestoredFiles::default()) })
    }

    fn take_back<'a>(
        &'a self,
        _: &'a ChangingCalls,
        _: CallId,
        _: &'a str,
    ) -> BoxFuture<'a, Result<RestoredFiles, ToolError>> {
        Box::pin(async { Ok(RestoredFiles::default()) })
    }
}
