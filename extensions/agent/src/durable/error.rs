//! Errors of durable runs.

use std::time::Duration;

use jiff::Timestamp;
use toolwright::journal::StoreError;

use super::outage::Outage;
use crate::run::{StartError, Stopped};

/// Why an operation on a durable run failed, or why the run cannot continue in this process. What the journal has
/// recorded of the run stays there.
///
/// ```
/// use toolwright_agent::durable::RunError;
///
/// let error = RunError::NoSuchRun { run: "r1".into() };
/// assert_eq!(error.to_string(), "the journal has no run `r1`; start it, or open the journal that it was started in");
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The id is not valid for a run.
    #[error("`{run}` cannot be the id of a run: {why}")]
    Id {
        /// The id.
        run: String,
        /// What is wrong with the id.
        why: String,
    },
    /// The key is not valid for a message.
    #[error("`{key}` cannot be the key of a message: {why}")]
    MessageKey {
        /// The key.
        key: String,
        /// What is wrong with the key.
        why: String,
    },
    /// The journal already has a run of this id, or had one that was removed.
    #[error(
        "the journal has or had a run `{run}` already; resume it, or give the new one another id"
    )]
    Exists {
        /// The id of the run.
        run: String,
    },
    /// There is no such run.
    #[error("the journal has no run `{run}`; start it, or open the journal that it was started in")]
    NoSuchRun {
        /// The id of the run.
        run: String,
    },
    /// The runner has no agent of that name.
    #[error("no agent `{agent}` is known here, found {known}; add it with `.agent(…)`")]
    NoAgent {
        /// The name of the agent.
        agent: String,
        /// The agents that the runner has.
        known: String,
    },
    /// Another driver has the run, in another process or in this one.
    #[error(
        "run `{run}` is driven by another process ({driver}) until {until}, or longer if it is renewed"
    )]
    Driven {
        /// The id of the run.
        run: String,
        /// The id of the driver.
        driver: String,
        /// The end of the driver's lease.
        until: Timestamp,
    },
    /// This process no longer drives the run: it renewed its lease too late, or another writer changed the head.
    #[error("lease lost: run `{run}` is no longer driven here")]
    LeaseLost {
        /// The id of the run.
        run: String,
    },
    /// The executor takes no new calls: another process continues the run.
    #[error("run `{run}` goes on in another process, because this one takes no new calls")]
    ShuttingDown {
        /// The id of the run.
        run: String,
    },
    /// The executor was drained, but the run could not be released, for instance because the journal does not answer.
    #[error(
        "run `{run}` was not given up within its lease of {lease:?} after the process was drained; another process goes on with it \
         when its lease has ended"
    )]
    NotReleased {
        /// The id of the run.
        run: String,
        /// The length of the driver's lease.
        lease: Duration,
    },
    /// A model or a listener of the run panicked.
    #[error(
        "run `{run}` stopped because its model or a listener of it panicked; it goes on from its last commit"
    )]
    Panicked {
        /// The id of the run.
        run: String,
    },
    /// The run is parked, because processes died while they drove it.
    #[error(
        "run `{run}` is parked until {until}: {why}; resume it by its id when the cause is gone"
    )]
    Parked {
        /// The id of the run.
        run: String,
        /// The reason.
        why: String,
        /// When workers may drive the run again.
        until: Timestamp,
    },
    /// Several processes died while they drove the run. So no process drives the run for a while; after that, only a
    /// process that drives no other suspect may drive it.
    #[error(
        "run `{run}` is suspected of the crash of its processes: it goes on after {until}, where no other suspect is driven"
    )]
    Suspect {
        /// The id of the run.
        run: String,
        /// When workers may drive the run again.
        until: Timestamp,
    },
    /// The model of the run is unavailable: it cannot be reached, is overloaded, or its provider asks callers to wait.
    #[error(
        "run `{run}` rests until {until}, because its model is away since {since} ({kind}{}); a process that works on the journal goes on \
         with it then",
        message.as_ref().map_or_else(String::new, |it| format!(": {it}"))
    )]
    ModelUnreachable {
        /// The id of the run.
        run: String,
        /// The kind of the model's last error.
        kind: String,
        /// The message of the model's last error, which names the provider and its address; `None` if an encrypted
        /// journal does not have it.
        message: Option<String>,
        /// When the first request failed.
        since: Timestamp,
        /// When the model is asked again.
        until: Timestamp,
    },
    /// The run was begun with another prompt.
    #[error(
        "run `{run}` was begun with another prompt: found {recorded} in the journal, and {given} now; give the new task an id of its \
         own, or say it in a conversation of this id"
    )]
    OtherPrompt {
        /// The id of the run.
        run: String,
        /// The prompt that the journal has recorded.
        recorded: String,
        /// The prompt that the caller gave.
        given: String,
    },
    /// The run ends in a value of another type than the requested one, or in a value that the validation of its type
    /// refuses now.
    #[error("run `{run}` {why}")]
    OtherOutput {
        /// The id of the run.
        run: String,
        /// The reason, with the recorded type and the requested type.
        why: String,
    },
    /// The files of the run are not as the run left them, or their earlier content is not recorded, so nothing was
    /// restored.
    #[error("the files of run `{run}` cannot go back: {}", files.join("; "))]
    FilesChanged {
        /// The id of the run.
        run: String,
        /// The reasons, a sentence for each file.
        files: Vec<String>,
    },
    /// The log of file changes failed.
    #[error(
        "the files of run `{run}` were not all restored: {why}; repeat the call when that is repaired"
    )]
    ChangeLog {
        /// The id of the run.
        run: String,
        /// The reason.
        why: String,
    },
    /// The state of the run does not allow the operation: it has not ended, for instance, or was cancelled.
    #[error("run `{run}` {why}")]
    NotNow {
        /// The id of the run.
        run: String,
        /// The reason.
        why: String,
    },
    /// A document of the run was changed, is missing, was written by a newer release, or cannot be decrypted with the
    /// executor's sealing key.
    #[error("document `{key}` cannot be used: {why}")]
    Damaged {
        /// The key of the document.
        key: String,
        /// What is wrong with the document.
        why: String,
    },
    /// The services of the run could not be made.
    #[error("the services of run `{run}` could not be made: {why}")]
    Services {
        /// The id of the run.
        run: String,
        /// The reason.
        why: String,
    },
    /// The run cannot start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The run stopped before it reached an end.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The journal failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
toolwright::unstable::debug_as_sentence!(RunError);

impl RunError {
    pub(super) fn damaged(key: &str, why: impl std::fmt::Display) -> Self {
        Self::Damaged { key: key.to_owned(), why: why.to_string() }
    }

    /// Returns the error of the journal, if this error has one.
    pub(crate) fn store(&self) -> Option<&StoreError> {
        match self {
            Self::Store(error) => Some(error),
            _ => None,
        }
    }

    pub(super) fn away(run: &str, outage: &Outage) -> Self {
        let Outage { since, until, kind, message, .. } = outage.clone();
        Self::ModelUnreachable { run: run.to_owned(), kind, message, since, until }
    }

    /// Reports whether another process drives the run or has changed it first. Then nothing is wrong with the run.
    #[must_use]
    pub fn is_elsewhere(&self) -> bool {
        matches!(self, Self::Driven { .. } | Self::LeaseLost { .. })
    }

    /// Reports whether the run continues later, by itself or in another process. A caller that waits for the end of the
    /// run then tries again.
    #[must_use]
    pub fn goes_on_later(&self) -> bool {
        let rests = matches!(self, Self::ModelUnreachable { .. } | Self::Suspect { .. });
        rests || self.is_elsewhere()
    }
}
