//! The documents of a run's turns, and the history that they make up.

use std::collections::{BTreeMap, HashMap};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toolwright::StoredAnswer;
use toolwright::journal::{Document, SealingKey, Store};

use super::RunError;
use super::body::Body;
use super::head::{read, written};
use super::keys::Part;
use super::plugins::RecordedPlugins;
use crate::events::{GuardReport, RunEnd};
use crate::history::{LeftOut, Message, Summary};
use crate::limits::{Cost, Usage};
use crate::run::{Expected, State, last_target};

/// The messages of the user before the model's answer. There are several, for example, if the run ended in between.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TurnPrompt {
    pub messages: Vec<Message>,
    /// The kind of output that the run had to end with; earlier releases recorded none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_in: Option<EndsIn>,
    /// The decisions of guards before the model answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<GuardReport>,
}

/// The kind of output in which a run has to end.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EndsIn {
    Text,
    /// A value of an output type.
    Value(Expected),
}

impl EndsIn {
    pub(super) fn of(state: &State) -> Self {
        state.expected().cloned().map_or(Self::Text, Self::Value)
    }
}

/// The model's answer. An empty answer has no message.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelAnswered {
    pub message: Option<Message>,
    pub model: Option<String>,
    pub usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<String>,
    /// How the run ended with this answer, if the run had to end in a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<RunEnd>,
    /// The parts of the history that the request left out.
    #[serde(default, skip_serializing_if = "LeftOut::is_empty")]
    pub left_out: LeftOut,
    /// The decisions of guards about the request, about this answer, and about the end of the run after the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<GuardReport>,
}

/// The answers that existed when other calls of the turn had to wait, by the index of the call.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SoFar {
    pub answers: Vec<Option<StoredAnswer>>,
}

/// The answers to the calls of a turn, as one message.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answers {
    pub message: Message,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope {
    body: Body,
}

/// Returns the text of a document.
pub(super) fn text(
    body: &impl Serialize,
    key: &str,
    sealing: Option<&SealingKey>,
) -> Result<String, RunError> {
    let body = Body::of(body, key, sealing)?;
    written(&Envelope { body }).map_err(|error| RunError::damaged(key, error))
}

/// Reads the value that a document of a turn holds.
pub(super) fn opened<T: DeserializeOwned>(
    document: &Document,
    sealing: Option<&SealingKey>,
) -> Result<T, RunError> {
    let key = &document.key;
    let envelope: Envelope = read("document of a turn", &document.text)
        .map_err(|error| RunError::damaged(key, error))?;
    envelope.body.open(key, sealing)
}

/// The record of one turn.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct RecordedTurn {
    /// The messages of the user before the model's answer, and those that the agent sent on the user's behalf.
    pub said: Vec<Message>,
    /// The model's answer; `None` if it was empty.
    pub answer: Option<Message>,
    /// The model that gave the answer, if the run had several models.
    pub model: Option<String>,
    /// The tokens that the answer took.
    pub usage: Option<Usage>,
    /// The cost of the answer, if the price of the model was known.
    pub cost: Option<Cost>,
    /// The date of the price list with which the cost was computed.
    pub prices: Option<String>,
    /// The answers to the turn's calls; `None` until every call has an answer.
    pub answers: Option<Message>,
    /// The parts of the history that were left out of the turn's request.
    pub left_out: LeftOut,
    /// The decisions of guards in the turn, except those that let something through.
    pub guards: Vec<GuardReport>,
    /// The kind of output in which the run has to end, from this turn's message on; `None` if the turn has no message,
    /// or an earlier release recorded it.
    pub(super) ends_in: Option<EndsIn>,
    /// How the run ended with the answer, if the run had to end in a value.
    pub(super) ended: Option<RunEnd>,
    /// Whether the model's answer is recorded, even if it was empty.
    pub(super) is_answered: bool,
}

impl RecordedTurn {
    /// Returns the name of the agent to which the run was handed off in this turn; see [`HandOff`](crate::HandOff).
    #[must_use]
    pub fn handed_off_to(&self) -> Option<String> {
        last_target(self.answers.as_slice())
    }
}

/// Reads one turn.
pub(super) async fn read_turn(
    store: &dyn Store,
    run: &str,
    number: u64,
    sealing: Option<&SealingKey>,
) -> Result<RecordedTurn, RunError> {
    let mut turn = RecordedTurn::default();
    for part in [Part::Said, Part::Answer, Part::Answers] {
        let Some(document) = store.document(&part.key(run, number)).await? else { continue };
        match part {
            Part::Said => {
                let said: TurnPrompt = opened(&document, sealing)?;
                (turn.said, turn.ends_in) = (said.messages, said.ends_in);
                turn.guards.extend(said.guards);
            }
            Part::Answer => {
                let answered: ModelAnswered = opened(&document, sealing)?;
                turn.is_answered = true;
                (turn.answer, turn.model) = (answered.message, answered.model);
                (turn.ended, turn.left_out) = (answered.ended, answered.left_out);
                turn.guards.extend(answered.guards);
                (turn.usage, turn.cost, turn.prices) =
                    (answered.usage, answered.cost, answered.prices);
            }
            Part::Answers => {
                turn.answers = Some(opened::<Answers>(&document, sealing)?.message);
            }
            Part::SoFar | Part::Plugins | Part::Summary => {}
        }
    }
    Ok(turn)
}

/// All turns of a run, as read from the journal.
#[derive(Default)]
pub(super) struct Turns {
    /// The history of the run.
    pub history: Vec<Message>,
    /// The messages since the last answer of the model.
    pub said: Vec<Message>,
    /// The decisions of guards since the last answer of the model.
    pub guarded: Vec<GuardReport>,
    /// The recorded answers of the open turn, by the index of the call.
    pub so_far: Vec<Option<StoredAnswer>>,
    /// The summaries that models wrote of turns that requests leave out.
    pub summaries: Vec<Summary>,
    /// The recorded states of plugins.
    pub plugins: RecordedPlugins,
    /// The versions of the documents that a driver may write again, by key.
    pub versions: HashMap<String, u64>,
}

impl Turns {
    /// Builds the turns of a run in this state from its documents.
    pub(super) fn read(
        run: &str,
        state: &State,
        documents: Vec<Document>,
        sealing: Option<&SealingKey>,
    ) -> Result<Self, RunError> {
        let mut by_turn: BTreeMap<u64, HashMap<Part, Document>> = BTreeMap::new();
        for document in documents {
            let Some((turn, part)) = Part::of(run, &document.key) else {
                let why = "no release writes a document of this name; remove it";
                return Err(RunError::damaged(&document.key, why));
            };
            by_turn.entry(turn).or_default().insert(part, document);
        }
        let (mut turns, last) = (Self::default(), state.turn());
        turns.plugins = RecordedPlugins::of(&mut by_turn, run, last, sealing)?;
        for turn in 1..=last + 1 {
            let mut parts = by_turn.remove(&turn).unwrap_or_default();
            if let Some(said) = parts.remove(&Part::Said) {
                let TurnPrompt { messages, guards, .. } = opened(&said, sealing)?;
                if turn > last {
                    turns.guarded = guards;
                    turns.versions.insert(said.key, said.version);
                    turns.said.clone_from(&messages);
                }
                turns.history.extend(messages);
            }
            if let Some(summary) = parts.remove(&Part::Summary) {
                turns.summaries.push(opened(&summary, sealing)?);
                turns.versions.insert(summary.key, summary.version);
            }
            if turn <= last {
                turns.turn(run, turn, turn == last, state, &mut parts, sealing)?;
            }
            if let Some(left) = parts.into_values().next() {
                return Err(unexpected(&left.key, last));
            }
        }
        match by_turn.into_values().flat_map(HashMap::into_values).next() {
            Some(left) => Err(unexpected(&left.key, last)),
            None => Ok(turns),
        }
    }

    fn turn(
        &mut self,
        run: &str,
        turn: u64,
        is_last: bool,
        state: &State,
        parts: &mut HashMap<Part, Document>,
        sealing: Option<&SealingKey>,
    ) -> Result<(), RunError> {
        let missing = |part: Part| RunError::Damaged {
            key: part.key(run, turn),
            why: format!(
                "it is missing, expected it because the head is at turn {}; restore the journal",
                state.turn()
            ),
        };
        let answer = parts.remove(&Part::Answer).ok_or_else(|| missing(Part::Answer))?;
        let message = opened::<ModelAnswered>(&answer, sealing)?.message;
        let calls = message.as_ref().map_or(0, |it| it.calls().len());
        self.history.extend(message);
        let answers = parts.remove(&Part::Answers);
        let so_far = parts.remove(&Part::SoFar);
        let is_open = is_last && !state.open_calls().is_empty();
        match answers {
            Some(answers) if is_open => return Err(unexpected(&answers.key, state.turn())),
            Some(answers) => self.history.push(opened::<Answers>(&answers, sealing)?.message),
            None if calls > 0 && !is_open => {
                return Err(missing(Part::Answers));
            }
            None => {}
        }
        if let Some(so_far) = so_far.filter(|_| is_open) {
            self.so_far = opened::<SoFar>(&so_far, sealing)?.answers;
            self.versions.insert(so_far.key, so_far.version);
        }
        Ok(())
    }
}

fn unexpected(key: &str, last: u64) -> RunError {
    let why = format!(
        "the head is at turn {last} and knows nothing of it: the head was changed by hand, or restored without its turns; restore both from one moment"
    );
    RunError::damaged(key, why)
}
