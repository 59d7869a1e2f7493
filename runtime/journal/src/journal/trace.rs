//! The steps of a call, reconstructed from its history: why the executor decided about the call, what it decided, and
//! what was committed.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::entry::Entry;
use super::next::{Failure, Transition};
use super::record::CallRecord;
use super::replay::{Contradiction, replay};
use super::state::State;

/// One step of a call: an input, the decisions that followed from it, and the commit that recorded them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TraceStep {
    /// The input that made the executor decide on the call.
    pub input: TraceInput,
    /// The state of the call before the step; `None` if the call was not recorded yet.
    pub from: Option<State>,
    /// The decisions, in order.
    pub decision: Vec<TraceDecision>,
    /// The version of the record that was committed.
    pub version: u64,
    /// The generation of the call after the step.
    pub generation: u32,
    /// When the step was committed.
    pub at: Timestamp,
    /// Who caused the last transition of the step, see [`Entry::who`].
    pub who: String,
}

/// A transition that was part of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TraceDecision {
    /// The transition.
    pub event: Transition,
    /// The state of the call after the transition.
    pub to: State,
    /// The reason for the transition, in words.
    pub why: Option<String>,
}

/// The reason why the executor decided on a call, as far as the call's history shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TraceInput {
    /// The call was submitted.
    Submitted,
    /// A caller, a worker or an operator wanted the call to continue.
    Resumed,
    /// The deadline or the lease of the call had expired.
    Due,
    /// A person decided about the call.
    Decided,
    /// An attempt ended, or a result was supplied from outside.
    Attempted,
    /// The tool's `reconcile` found out the outcome of the call.
    Reconciled,
    /// The run of the call ended, so the call was ended too.
    Ended,
}

impl TraceInput {
    /// Returns the input's name as it is stored and printed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::Resumed => "resumed",
            Self::Due => "due",
            Self::Decided => "decided",
            Self::Attempted => "attempted",
            Self::Reconciled => "reconciled",
            Self::Ended => "ended",
        }
    }

    fn of(entry: &Entry) -> Self {
        match entry.event {
            None => Self::Submitted,
            Some(_) if entry.signed.is_some() => Self::Decided,
            Some(Transition::Expired | Transition::Errored { failure: Failure::OwnerLost, .. }) => {
                Self::Due
            }
            Some(
                Transition::Succeeded
                | Transition::Errored { .. }
                | Transition::LaidAside
                | Transition::Supplied
                | Transition::Declined,
            ) => Self::Attempted,
            Some(Transition::Happened | Transition::DidNotHappen) => Self::Reconciled,
            Some(Transition::RunEnded) => Self::Ended,
            Some(_) => Self::Resumed,
        }
    }
}

/// Lists the steps of a call. Entries that were committed together form one step; they are recognised by their time and
/// their transitions.
///
/// ```
/// use toolwright::CallId;
/// use toolwright::journal::{CallRecord, CallSlot, Note, Transition};
/// use toolwright::unstable::journal::{TraceInput, trace};
///
/// let at = "2026-01-01T00:00:00Z".parse()?;
/// let note = || Note { who: "executor:1".to_owned(), at, why: None, signed: None };
/// let slot = CallSlot { run: "r".to_owned(), turn: None, index: 0 };
/// let mut record = CallRecord::draft(CallId::from_bytes([7; 16]), slot, "send_mail", at);
/// let history = vec![record.opened(note()), record.advance(Transition::Asked, note())?];
/// let steps = trace(&record, &history)?;
/// assert_eq!((steps.len(), steps[0].input, steps[0].version), (1, TraceInput::Submitted, 2));
/// assert!(trace(&record, &history[..1]).is_err(), "a step is missing");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the entries are not valid transitions, or do not lead to the record's state. Then an entry is missing or was
/// changed.
pub fn trace(record: &CallRecord, history: &[Entry]) -> Result<Vec<TraceStep>, Contradiction> {
    replay(record, history)?;
    let mut steps: Vec<TraceStep> = Vec::new();
    for entry in history {
        let decision = entry.event.map(|event| {
            let why = entry.why.clone();
            TraceDecision { event, to: entry.to, why }
        });
        let input = TraceInput::of(entry);
        match steps.last_mut() {
            Some(step) if continues(step, entry, input) => {
                step.decision.extend(decision);
                (step.version, step.generation) = (entry.number, entry.generation);
                step.who.clone_from(&entry.who);
            }
            _ => steps.push(TraceStep {
                input,
                from: entry.from,
                decision: decision.into_iter().collect(),
                version: entry.number,
                generation: entry.generation,
                at: entry.at,
                who: entry.who.clone(),
            }),
        }
    }
    Ok(steps)
}

/// Whether a history entry belongs to the same commit as a step.
fn continues(step: &TraceStep, entry: &Entry, input: TraceInput) -> bool {
    let follows = step.version.checked_add(1) == Some(entry.number) && entry.at == step.at;
    let is_of_one_look = match (step.input, input) {
        (TraceInput::Submitted, TraceInput::Resumed) => true,
        (TraceInput::Resumed, TraceInput::Resumed) => {
            matches!(entry.event, Some(Transition::Denied | Transition::HandedOver))
        }
        (TraceInput::Attempted, TraceInput::Ended) => true,
        _ => false,
    };
    follows && is_of_one_look
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::SignedStatement;
    use crate::journal::{CallSlot, Note};
    use toolwright_core::context::CallId;
    use toolwright_core::tool::Effect;

    /// A call that is asked about, approved, lost once and run.
    fn life() -> (CallRecord, Vec<Entry>) {
        let place = CallSlot { run: "r".to_owned(), turn: None, index: 0 };
        let at = |second| Timestamp::from_second(second).expect("a time");
        let note =
            |second| Note { who: "somebody".to_owned(), at: at(second), why: None, signed: None };
        let mut record = CallRecord::draft(CallId::from_bytes([1; 16]), place, "any", at(0));
        let effect = Effect::Idempotent;
        let lost = Transition::Errored { failure: Failure::OwnerLost, effect, exhausted: false };
        let mut history = vec![record.opened(note(0))];
        for (event, second) in [
            (Transition::Asked, 0),
            (Transition::Approved, 5),
            (Transition::Claimed, 6),
            (lost, 40),
            (Transition::Claimed, 41),
            (Transition::Succeeded, 42),
        ] {
            history.push(record.advance(event, note(second)).expect("it can happen"));
        }
        (record, history)
    }

    #[test]
    fn what_one_commit_wrote_is_one_step() {
        use TraceInput::{Attempted, Decided, Due, Resumed, Submitted};

        let (record, mut history) = life();
        let signed = |text: &str| SignedStatement {
            text: text.into(),
            key: String::new(),
            signature: String::new(),
        };
        history[2].signed = Some(signed("{}"));
        let steps = trace(&record, &history).expect("it replays");
        let inputs: Vec<TraceInput> = steps.iter().map(|step| step.input).collect();
        assert_eq!(inputs, [Submitted, Decided, Resumed, Due, Resumed, Attempted]);
        assert_eq!(steps[0].version, 2);
        assert_eq!(steps[0].decision.len(), 1);
    }

    #[test]
    fn a_trace_with_a_step_removed_is_refused() {
        let (record, history) = life();
        for missing in 0..history.len() {
            let mut cut = history.clone();
            cut.remove(missing);
            let refused = trace(&record, &cut);
            assert!(refused.is_err(), "entry {missing} is missing, and nothing is said of it");
        }
    }
}
