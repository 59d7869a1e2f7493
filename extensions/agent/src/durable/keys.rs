//! The keys of the documents of a run, and the ids that a run may have.

use toolwright::CallId;
use toolwright::journal::DocumentWrite;

use crate::limits::ledger::answers_of;

/// The prefix of the keys of documents that list the open runs: those that have not ended, and those that have ended but
/// whose calls are not all acknowledged. Because of these documents, a worker need not read the other runs.
pub(super) const OPEN: &str = "runs/open/";

/// The prefix of the keys of documents that list the runs that have ended and are not listed as open.
pub(super) const ENDED: &str = "runs/ended/";

/// The maximum length of a run's id, in bytes.
const LONGEST: usize = 200;

pub(super) fn head(run: &str) -> String {
    format!("run/{run}/head")
}

pub(super) fn cancel(run: &str) -> String {
    format!("run/{run}/cancel")
}

/// Returns the key of the document that records the parts of the agent that drives the run; see
/// [`MadeOf`](super::made_of::MadeOf).
pub(super) fn agent(run: &str) -> String {
    format!("run/{run}/agent")
}

/// Returns the key of the document that records the rewind of a run to an earlier turn.
pub(super) fn rewind(run: &str) -> String {
    format!("run/{run}/rewind")
}

/// Returns the key of the document that marks the id of a removed run as used.
pub(super) fn removed(run: &str) -> String {
    format!("runs/removed/{run}")
}

/// Returns a write that changes nothing. Its commit fails if a run of this id was removed.
pub(super) fn not_removed(run: &str) -> DocumentWrite {
    DocumentWrite { key: removed(run), expects: None, text: None }
}

pub(super) fn open(run: &str) -> String {
    format!("{OPEN}{run}")
}

pub(super) fn ended(run: &str) -> String {
    format!("{ENDED}{run}")
}

/// Returns the prefix of all documents of a run's turns.
pub(super) fn turns(run: &str) -> String {
    format!("run/{run}/turn/")
}

/// Returns the prefix of the keys of all messages that were sent to the run while it works.
pub(super) fn inbox(run: &str) -> String {
    format!("run/{run}/inbox/")
}

/// Returns the prefix of the keys of documents that record under which keys messages were sent, so that no message is
/// sent twice under one key.
pub(super) fn sent(run: &str) -> String {
    format!("run/{run}/sent/")
}

/// Returns the prefix of the keys of one sub-agent's documents. The call that started the sub-agent identifies it.
pub(super) fn sub_agent(run: &str, call: CallId) -> String {
    format!("{}{call}/", answers_of(run))
}

/// A part of a turn, which is stored as a document of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// The messages of the user before the model's answer.
    Said,
    /// The model's answer.
    Answer,
    /// The answers that existed when the turn's other calls had to wait.
    SoFar,
    /// The answers to all calls of the turn.
    Answers,
    /// The states that plugins set in the turn.
    Plugins,
    /// The summary that a model wrote of the turns that requests leave out from this turn on.
    Summary,
}

impl Part {
    const ALL: [Self; 6] =
        [Self::Said, Self::Answer, Self::SoFar, Self::Answers, Self::Plugins, Self::Summary];

    fn name(self) -> &'static str {
        match self {
            Self::Said => "said",
            Self::Answer => "answer",
            Self::SoFar => "so-far",
            Self::Answers => "answers",
            Self::Plugins => "plugins",
            Self::Summary => "summary",
        }
    }

    pub(super) fn key(self, run: &str, turn: u64) -> String {
        format!("{}{turn}/{}", turns(run), self.name())
    }

    /// Parses a key of this run into its turn and part.
    pub(super) fn of(run: &str, key: &str) -> Option<(u64, Self)> {
        let (turn, name) = key.strip_prefix(&turns(run))?.split_once('/')?;
        let part = Self::ALL.into_iter().find(|part| part.name() == name)?;
        // Accepts only the canonical spelling of a number, so that no two keys name the same part.
        let number: u64 = turn.parse().ok()?;
        (number.to_string() == turn).then_some((number, part))
    }
}

/// Returns what is wrong with the id of a run or the key of a message. Both are part of documents' keys, and ids are
/// part of command lines.
pub(super) fn problem(run: &str) -> Option<String> {
    if run.is_empty() {
        return Some("it is empty, expected a name that no other run has".to_owned());
    }
    if run.len() > LONGEST {
        return Some(format!("it has {} bytes, expected at most {LONGEST}", run.len()));
    }
    let wrong = run.chars().find(|it| *it == '/' || it.is_control())?;
    Some(format!("it has {wrong:?}, expected no slash and no control character"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_its_turn_and_part() {
        for part in Part::ALL {
            assert_eq!(Part::of("r1", &part.key("r1", 12)), Some((12, part)));
        }
        for other in ["run/r1/turn/01/said", "run/r1/turn/1/else", "run/r2/turn/1/said"] {
            assert_eq!(Part::of("r1", other), None, "{other}");
        }
    }

    #[test]
    fn an_id_has_no_slash_so_that_no_run_stands_in_another() {
        assert_eq!(problem("ticket 7"), None);
        for wrong in ["", "a/b", "a\nb", &"x".repeat(201)] {
            assert!(problem(wrong).is_some(), "{wrong:?}");
        }
    }
}
