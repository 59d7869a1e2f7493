//! The head of a run: its state, which process drives it, and until when.

use std::fmt;

use jiff::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use toolwright::CallId;
use toolwright::journal::{SealingKey, State as CallState};

use super::body::Body;
use super::outage::Outage;
use super::{RunError, keys};
use crate::history::known;
use crate::limits::TotalUsage;
use crate::run::State;

/// The document `run/<id>/head`. Each commit of a step replaces it on the condition that its version is unchanged. So a
/// driver whose copy of the head is out of date records no step.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Head {
    /// The id of the run.
    pub run: String,
    /// The name of the agent that drives the run.
    pub agent: String,
    /// The user on whose behalf the run calls tools, if it has one.
    pub user: Option<String>,
    /// The session that the run belongs to, if it belongs to one.
    pub session: Option<String>,
    /// The phase of the run.
    pub phase: Phase,
    /// The number of the model's last answer, counted from 1; 0 before the first answer.
    pub turn: u64,
    /// The tokens and the cost of all requests to models, including failed requests.
    pub spent: TotalUsage,
    /// The date of the newest price list with which costs of the run were computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<String>,
    /// How the run ended, as the tag of [`RunEnd`](crate::RunEnd); `None` before the end.
    pub ended: Option<String>,
    /// The calls of the run that wait for a person, a time or another process, in call order.
    pub waiting: Vec<WaitingCall>,
    /// How many drivers have taken the run so far.
    pub epoch: u64,
    /// The lease of the process that drives the run; `None` while no process does.
    pub lease: Option<Lease>,
    /// How many drivers died in the current turn; `None` if none did.
    #[serde(rename = "deaths")]
    pub crashes: Option<Crashes>,
    /// Why no worker drives the run, and until when; `None` if the run is not parked.
    pub parked: Option<Parked>,
    /// The outage of the run's model; `None` while the model is available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage: Option<Outage>,
    /// Who cancelled the run, and why; `None` if the run was not cancelled.
    pub cancelled: Option<Cancelled>,
    /// When the time limit of the run ends, if it has one.
    pub deadline: Option<Timestamp>,
    /// The run that this run was forked from, if it is a fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked: Option<Forked>,
    /// Why no process may continue the run, if a rewind is the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewound: Option<Rewound>,
    /// When the run was started.
    pub created: Timestamp,
    /// When the head was last written.
    pub updated: Timestamp,
    /// The data that the application stored with the run, as JSON.
    pub(super) data: Body,
    /// The [`State`](crate::State) of the run, as JSON.
    pub(super) state: Body,
}

/// The phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Phase {
    /// The model answers next.
    Asking,
    /// The calls of an answer run next.
    Calling,
    /// Calls of the last turn or calls in the background wait. No process drives the run, except one that has just taken
    /// it and has recorded only its lease so far.
    Waiting,
    /// The run has ended.
    Ended,
}

/// The run that a fork was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Forked {
    /// The id of the run that the fork was made from.
    pub run: String,
    /// The last turn that both runs have.
    pub turn: u64,
}

/// Why no process may continue a run: the run went back to an earlier turn, or it continues a run that went back and
/// the files are not restored yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Rewound {
    /// The run went back to the end of an earlier turn: its files are as they were at the end of that turn, after which
    /// another run continues.
    To {
        /// The id of the run that continues.
        run: String,
        /// The earlier turn: the last that both runs have.
        turn: u64,
    },
    /// The run is to continue from an earlier turn of another run, once the files of that turn are restored.
    Unfinished {
        /// The id of the run that went back.
        run: String,
    },
}

/// Which process drives a run, and until when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Lease {
    /// The id of the driver. A process makes a new id each time that it takes a run.
    pub driver: String,
    /// When the lease ends, unless the driver renews it.
    pub until: Timestamp,
    /// Whether the run is a suspect: drivers died in its current turn, so it may crash its process. A process drives at
    /// most one suspect. A run stops being a suspect when its turn is recorded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspect: bool,
}

/// How many drivers died in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Crashes {
    /// The turn in which the drivers died.
    pub turn: u64,
    /// How many drivers died in this turn.
    pub drivers: u32,
    /// How many times the run was parked in this turn.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub parked: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(times: &u32) -> bool {
    *times == 0
}

/// Why no worker drives a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Parked {
    /// The reason.
    pub why: String,
    /// When the run was parked.
    pub at: Timestamp,
    /// When workers may drive the run again. `None` in runs that earlier releases parked: they count as parked for ten
    /// minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// Who cancelled a run, and why. The document `run/<id>/cancel` holds these fields and a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Cancelled {
    /// The user or process that cancelled the run.
    pub who: String,
    /// The reason.
    pub why: String,
    /// When the run was cancelled.
    pub at: Timestamp,
}

/// A call that waits for a person, a time or another process, as its run records it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct WaitingCall {
    /// The index of the call in the turn.
    pub index: u32,
    /// The id of the call in the journal.
    pub call: CallId,
    /// The name of the call's tool.
    pub tool: String,
    /// The state of the call when the run began to wait for it.
    pub state: CallState,
    /// Whether the call is in the background: the run continues meanwhile, and does not end with an answer before it
    /// has the result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_background: bool,
}

impl Head {
    /// The version of the documents of runs that this release writes and reads.
    pub const VERSION: u32 = 1;

    /// Returns the number of the current turn: the turn of the open calls, or the turn of the model's next answer.
    #[must_use]
    pub fn current_turn(&self) -> u64 {
        match self.phase {
            Phase::Asking => self.turn + 1,
            Phase::Calling | Phase::Waiting | Phase::Ended => self.turn,
        }
    }

    /// Returns the text to which the encryption of the state is bound. The text contains those fields of the head that
    /// are stored in plain text and never change.
    fn bound(&self) -> String {
        let plain = json!([self.agent, self.user, self.session]);
        format!("{}#state of {plain}", keys::head(&self.run))
    }

    /// Returns this head with another state.
    pub(super) fn with_state(
        self,
        state: &State,
        sealing: Option<&SealingKey>,
    ) -> Result<Self, RunError> {
        Ok(Self { state: Body::of(state, &self.bound(), sealing)?, ..self })
    }

    /// Returns the state of the run. Refuses a state that this release encrypted for another agent, user or session:
    /// otherwise a person who can write another name into the head could read the state.
    pub(super) fn state(&self, sealing: Option<&SealingKey>) -> Result<State, RunError> {
        // Earlier releases bound the encryption to the run alone. Their states are accepted for any agent, user and
        // session.
        let unbound = format!("{}#state", keys::head(&self.run));
        self.state.open(&self.bound(), sealing).or_else(|_| self.state.open(&unbound, sealing))
    }

    /// Reads the head that a document holds.
    ///
    /// # Errors
    /// When the text is not a head, a newer release wrote it, or a counter is so high that it must have been set by hand.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        let head: Self = read_with("head of a run", text, |head| {
            // Earlier releases stored only the tokens.
            if let Some(usage) = head.remove("usage") {
                let answers = head.get("turn").cloned();
                head.insert(
                    "spent".into(),
                    json!({"usage": usage, "cost": 0, "unpriced": answers}),
                );
            }
        })?;
        head.refuse_high_counters().map_err(serde_json::Error::custom)?;
        Ok(head)
    }

    /// Refuses a counter that no run can reach, so that an addition to the counter never overflows.
    fn refuse_high_counters(&self) -> Result<(), String> {
        let drivers = self.crashes.map_or(0, |crashes| crashes.drivers);
        for (name, found, most) in [
            ("epoch", self.epoch, u64::MAX / 2),
            ("turn", self.turn, u64::MAX / 2),
            ("deaths/drivers", drivers.into(), u64::from(u32::MAX / 2)),
        ] {
            if found > most {
                return Err(format!(
                    "its `{name}` is {found}, expected at most {most}. No run gets there by itself: find out who changed \
                     it, and restore it"
                ));
            }
        }
        Ok(())
    }

    /// Returns the text of the document.
    pub(super) fn text(&self) -> Result<String, serde_json::Error> {
        written(self)
    }
}

/// Returns the text of a document that includes the version of its format.
pub(super) fn written(body: &impl Serialize) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct VersionedHead<'a, T> {
        version: u32,
        #[serde(flatten)]
        body: &'a T,
    }
    serde_json::to_string(&VersionedHead { version: Head::VERSION, body })
}

/// Reads a document. Fails if this release does not know the document's version.
pub(super) fn read<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, serde_json::Error> {
    read_with(what, text, |_| {})
}

/// Reads a document. `change` first brings the document from an older form into the current one.
fn read_with<T: DeserializeOwned>(
    what: &str,
    text: &str,
    change: impl FnOnce(&mut Map<String, Value>),
) -> Result<T, serde_json::Error> {
    let mut value: Value = serde_json::from_str(text)?;
    let version = value.as_object_mut().and_then(|it| it.remove("version"));
    known(what, version, Head::VERSION).map_err(serde_json::Error::custom)?;
    if let Some(body) = value.as_object_mut() {
        change(body);
    }
    serde_json::from_value(value)
}

/// Omits the texts of the application and the model.
impl fmt::Debug for Head {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Head")
            .field("run", &self.run)
            .field("phase", &self.phase)
            .field("turn", &self.turn)
            .field("epoch", &self.epoch)
            .field("lease", &self.lease)
            .finish_non_exhaustive()
    }
}
