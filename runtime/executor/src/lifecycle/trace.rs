//! Traces of decisions with all of their inputs, so that a failure can be replayed.
//!
//! The driver writes each decision as JSON into a tracing event of target [`TARGET`] and level `TRACE`, unless the
//! decision only asks for a missing fact. It does so only if the executor records content. Secrets stay encrypted or
//! left out, as in the journal.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::decide::decide;
use super::snapshot::Snapshot;
use super::step::{Input, Settings, Step, Then};

/// The target of the tracing events that contain decisions.
pub const TARGET: &str = "toolwright::lifecycle";

/// The version of the stored form. A reader with another version refuses the data.
const FORMAT: u32 = 1;

/// One decision, with all facts, settings and other inputs that led to it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TracedDecision {
    format: u32,
    /// The facts about the call.
    pub snapshot: Snapshot,
    /// The input to which the decision responds.
    pub input: Input,
    /// The settings of the executor.
    pub settings: Settings,
    /// The time of the decision.
    pub now: Timestamp,
    /// The random number of the decision: its upper 64 bits, followed by its lower 64 bits.
    pub random: [u64; 2],
    /// The decision.
    pub step: Step,
}

/// Why the trace of a call cannot be replayed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TraceRefusal {
    /// A release with another format wrote the trace.
    #[error(
        "step {step} of the trace has format {found}, and this version reads format {FORMAT}: update"
    )]
    Newer {
        /// The number of the step, counted from 1.
        step: usize,
        /// The format that was found.
        found: u32,
    },
    /// The line is not a valid step.
    #[error("step {step} of the trace cannot be read: {why}")]
    Unreadable {
        /// The number of the step, counted from 1.
        step: usize,
        /// The problem of the trace.
        why: String,
    },
    /// The trace does not begin with the submission of a call.
    #[error("the trace begins at version {version} of its call, not with its submission")]
    Beginning {
        /// The version of the first record.
        version: u64,
    },
    /// A step is missing in the trace.
    #[error(
        "a step is missing before step {step}: it begins at version {found}, and the one before ends at {expected}"
    )]
    Missing {
        /// The number of the step, counted from 1.
        step: usize,
        /// The version at which the previous step ends.
        expected: u64,
        /// The version of the record at the beginning of the step.
        found: u64,
    },
    /// This release makes another decision than the one in the trace.
    #[error(
        "step {step} of the trace is decided differently now: {decided}, but the trace says {recorded}"
    )]
    Otherwise {
        /// The number of the step, counted from 1.
        step: usize,
        /// The decision that this release makes.
        decided: String,
        /// The recorded decision.
        recorded: String,
    },
}
toolwright_core::debug_as_sentence!(TraceRefusal);

impl TracedDecision {
    /// Makes a decision at the time `now`, and returns it with all of its inputs.
    #[must_use]
    pub fn of(
        snapshot: &Snapshot,
        input: &Input,
        settings: &Settings,
        now: Timestamp,
        random: u128,
    ) -> Self {
        let step = decide(snapshot, input, settings, now, random);
        #[expect(clippy::cast_possible_truncation, reason = "it is split into its halves")]
        let random = [(random >> 64) as u64, random as u64];
        let (snapshot, input, settings) = (snapshot.clone(), input.clone(), settings.clone());
        Self { format: FORMAT, snapshot, input, settings, now, random, step }
    }

    /// Writes one line of a trace.
    #[must_use]
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
    }

    fn from_line(step: usize, line: &str) -> Result<Self, TraceRefusal> {
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let unreadable =
            |error: serde_json::Error| TraceRefusal::Unreadable { step, why: error.to_string() };
        let Format { format: found } = serde_json::from_str(line).map_err(unreadable)?;
        if found != FORMAT {
            return Err(TraceRefusal::Newer { step, found });
        }
        serde_json::from_str(line).map_err(unreadable)
    }

    fn is_decided_again(&self, step: usize) -> Result<(), TraceRefusal> {
        let random = u128::from(self.random[0]) << 64 | u128::from(self.random[1]);
        let again = decide(&self.snapshot, &self.input, &self.settings, self.now, random);
        if again == self.step {
            return Ok(());
        }
        let (decided, recorded) = (format!("{again:?}"), format!("{:?}", self.step));
        Err(TraceRefusal::Otherwise { step, decided, recorded })
    }

    /// Returns the version of the record after the step, if the step's commit succeeds.
    fn left(&self) -> u64 {
        let written = self.step.commit.as_ref().and_then(|unit| unit.calls.first());
        written.map_or(self.snapshot.record.version, |write| write.record.version)
    }

    /// Checks that this step follows the step `before`. It must begin at the version at which `before` ends or, if the
    /// commit of `before` failed, at the version at which `before` began. Only decisions of people may come between the
    /// two steps.
    fn follows(&self, before: &Self, step: usize) -> Result<(), TraceRefusal> {
        let (began, expected) = (before.snapshot.record.version, before.left());
        let found = self.snapshot.record.version;
        let history = self.snapshot.past.iter().flat_map(|past| &past.history);
        let between = history.filter(|entry| entry.number > expected && entry.number <= found);
        let decided = between.filter(|entry| entry.signed.is_some()).count() as u64;
        if found == expected || found == began || expected.checked_add(decided) == Some(found) {
            return Ok(());
        }
        Err(TraceRefusal::Missing { step, expected, found })
    }
}

/// Replays the trace of one call, which contains one decision in each line. Returns what was to be done after the last
/// decision; `None` for an empty trace.
///
/// # Errors
/// When the text is not the trace of a call from its submission on, or this release makes a different decision. The
/// error says at which step, and what differs.
pub fn replay(trace: &str) -> Result<Option<Then>, TraceRefusal> {
    let (mut before, mut last): (Option<TracedDecision>, _) = (None, None);
    for (step, line) in (1..).zip(trace.lines()) {
        let now = TracedDecision::from_line(step, line)?;
        now.is_decided_again(step)?;
        last = Some(now.step.then.clone());
        // A step without a commit leaves the version unchanged.
        if now.step.commit.is_none() {
            continue;
        }
        match &before {
            Some(before) => now.follows(before, step)?,
            None if now.snapshot.is_recorded => {
                return Err(TraceRefusal::Beginning { version: now.snapshot.record.version });
            }
            None => {}
        }
        before = Some(now);
    }
    Ok(last)
}
