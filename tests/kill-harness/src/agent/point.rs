//! The points at which a process that drives runs is killed.

use std::fmt;
use std::str::FromStr;

use toolwright::journal::{DocumentWrite, Transaction};

/// A commit of a run, or of one of its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// The run is recorded.
    Start,
    /// A run that has ended gets another message.
    SaidMore,
    /// The cancellation of a run is requested.
    Cancellation,
    /// A lease of the run is taken, renewed or released.
    Lease,
    /// The model's answer is recorded.
    Answer,
    /// The state of a call changes.
    Call,
    /// The answers so far of a waiting turn are recorded.
    SoFar,
    /// The answers of a turn are recorded.
    Answers,
    /// A call whose answer the run has recorded is acknowledged.
    Acknowledgement,
    /// The end of the run is recorded.
    End,
    /// The usage of a sub-agent, or an answer of its model, is recorded.
    Child,
    /// A message of the user to a run that works is recorded.
    Message,
    /// A summary of turns that are left out of requests is recorded.
    Summary,
    /// A rewind is recorded: the decision to go back to an earlier turn, or the fact that the files are restored.
    Rewind,
}

impl Step {
    const ALL: [Self; 14] = [
        Self::Start,
        Self::SaidMore,
        Self::Cancellation,
        Self::Lease,
        Self::Answer,
        Self::Call,
        Self::SoFar,
        Self::Answers,
        Self::Acknowledgement,
        Self::End,
        Self::Child,
        Self::Message,
        Self::Summary,
        Self::Rewind,
    ];

    /// Returns the kind of a transaction.
    #[must_use]
    pub fn of(unit: &Transaction) -> Option<Self> {
        let written = || unit.documents.iter().filter(|it| it.text.is_some()).map(|it| &*it.key);
        let has = |test: fn(&str) -> bool| written().any(test);
        if has(|key| key.ends_with("/rewind")) {
            Some(Self::Rewind)
        } else if has(|key| key.starts_with("runs/ended/")) {
            Some(Self::End)
        } else if has(|key| key.contains("/agents/") || key.contains("/children/")) {
            Some(Self::Child)
        } else if has(|key| key.ends_with("/answers")) {
            Some(Self::Answers)
        } else if has(|key| key.ends_with("/answer")) {
            Some(Self::Answer)
        } else if has(|key| key.ends_with("/so-far")) {
            Some(Self::SoFar)
        } else if has(|key| key.ends_with("/summary")) {
            Some(Self::Summary)
        } else if has(|key| key.contains("/inbox/")) {
            Some(Self::Message)
        } else if has(|key| key.starts_with("runs/open/")) {
            let is_new = |it: &DocumentWrite| it.key.ends_with("/head") && it.expects.is_none();
            Some(if unit.documents.iter().any(is_new) { Self::Start } else { Self::SaidMore })
        } else if has(|key| key.ends_with("/cancel")) {
            Some(Self::Cancellation)
        } else if !unit.calls.is_empty() {
            Some(Self::Call)
        } else if has(|key| key.ends_with("/head")) {
            Some(Self::Lease)
        } else {
            None
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::SaidMore => "said-more",
            Self::Cancellation => "cancellation",
            Self::Lease => "lease",
            Self::Answer => "model-answer",
            Self::Call => "call",
            Self::SoFar => "answers-so-far",
            Self::Answers => "answers",
            Self::Acknowledgement => "acknowledgement",
            Self::End => "end",
            Self::Child => "child",
            Self::Message => "message",
            Self::Summary => "summary",
            Self::Rewind => "rewind",
        }
    }
}

/// A point in a process that drives runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AgentPoint {
    /// The commit has not begun.
    Before(Step),
    /// The commit is durable, but its caller does not know yet.
    After(Step),
    /// The model has made its answer, but its caller has not received it.
    InModel,
    /// A tool is running, and has not acted yet.
    Begun,
    /// A tool has acted, and has not returned.
    Acted,
}

impl AgentPoint {
    /// Returns every point.
    pub fn all() -> impl Iterator<Item = Self> {
        let commits =
            Step::ALL.into_iter().flat_map(|step| [Self::Before(step), Self::After(step)]);
        commits.chain([Self::InModel, Self::Begun, Self::Acted])
    }
}

impl fmt::Display for AgentPoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Before(step) => write!(formatter, "before-{}", step.name()),
            Self::After(step) => write!(formatter, "after-{}", step.name()),
            Self::InModel => formatter.write_str("in-model"),
            Self::Begun => formatter.write_str("begun"),
            Self::Acted => formatter.write_str("acted"),
        }
    }
}

impl FromStr for AgentPoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::all().find(|it| it.to_string() == text);
        found.ok_or_else(|| format!("`{text}` is not a point of a process that drives runs"))
    }
}
