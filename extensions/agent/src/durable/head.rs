//! The head of a run: its state, and which process drives it until when.

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

/// The document `run/<id>/head`. Every commit of a run replaces it, so that a driver that is not the last to have read
/// it commits nothing.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Head {
    /// The run.
    pub run: String,
    /// The name of its agent.
    pub agent: String,
    /// On whose behalf it calls.
    pub user: Option<String>,
    /// The session that it belongs to.
    pub session: Option<String>,
    /// What it does.
    pub phase: Phase,
    /// The number of the last answer of the model, counted from 1; 0 before the first.
    pub turn: u64,
    /// What the requests to models took and cost, failed ones among them.
    pub spent: TotalUsage,
    /// The date of the newest price list by which costs of the run were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<String>,
    /// How it ended: the tag of [`RunEnd`](crate::RunEnd).
    pub ended: Option<String>,
    /// The calls that wait, in call order.
    pub waiting: Vec<WaitingCall>,
    /// Counts the drivers: one more with each that takes the run.
    pub epoch: u64,
    /// Who drives it.
    pub lease: Option<Lease>,
    /// How many drivers died in the turn that they worked on.
    #[serde(rename = "deaths")]
    pub crashes: Option<Crashes>,
    /// Why no worker takes it up.
    pub parked: Option<Parked>,
    /// Since when its model cannot be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage: Option<Outage>,
    /// Who cancelled it.
    pub cancelled: Option<Cancelled>,
    /// When its time is up.
    pub deadline: Option<Timestamp>,
    /// The run whose first turns it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked: Option<Forked>,
    /// What a rewind has made of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewound: Option<Rewound>,
    /// When it was started.
    pub created: Timestamp,
    /// When the head was last written.
    pub updated: Timestamp,
    /// The application's own, as JSON.
    pub(super) data: Body,
    /// The [`State`](crate::State), as JSON.
    pub(super) state: Body,
}

/// What a run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Phase {
    /// The model has to answer.
    Asking,
    /// The calls of an answer are run.
    Calling,
    /// Calls wait, of its turn or in the background, and no process drives the run.
    Waiting,
    /// It has ended.
    Ended,
}

/// Where a run comes from that was not begun anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Forked {
    /// The other run.
    pub run: String,
    /// The last turn that both have.
    pub turn: u64,
}

/// What a rewind says of a run that no process may go on with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Rewound {
    /// It went back: the files are those that it had at the end of this turn, and another run goes on from there.
    To {
        /// The other run.
        run: String,
        /// The last turn that both have.
        turn: u64,
    },
    /// It goes on from an earlier turn of this other run, once the files are those of that turn.
    Unfinished {
        /// The other run.
        run: String,
    },
}

/// Which process drives a run, and until when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Lease {
    /// The driver: an id of its own for each time that a process takes a run.
    pub driver: String,
    /// Until when it counts, unless it is renewed.
    pub until: Timestamp,
    /// Whether the driver drives it as the one suspect of its process, until the turn is recorded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspect: bool,
}

/// How many drivers died in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Crashes {
    /// The turn.
    pub turn: u64,
    /// How many.
    pub drivers: u32,
    /// How often the run was parked in the turn.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub parked: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(times: &u32) -> bool {
    *times == 0
}

/// Why no worker takes a run up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Parked {
    /// Why.
    pub why: String,
    /// Since when.
    pub at: Timestamp,
    /// Until when. What earlier releases parked has none, and stays so for ten minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// Who cancelled a run, and why. The document `run/<id>/cancel` is one of these with a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Cancelled {
    /// Who.
    pub who: String,
    /// Why.
    pub why: String,
    /// When.
    pub at: Timestamp,
}

/// A call that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct WaitingCall {
    /// Its index in the turn.
    pub index: u32,
    /// The call, as the journal knows it.
    pub call: CallId,
    /// Its tool.
    pub tool: String,
    /// What it waited for when it was submitted.
    pub state: CallState,
    /// Whether the run has gone on since, and waits for the result before it ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_background: bool,
}

impl Head {
    /// The version of the documents of runs that this release writes and reads.
    pub const VERSION: u32 = 1;

    /// Returns the turn that is worked on: that of the open calls, or the one that the model is asked for.
    #[must_use]
    pub fn current_turn(&self) -> u64 {
        match self.phase {
            Phase::Asking => self.turn + 1,
            Phase::Calling | Phase::Waiting | Phase::Ended => self.turn,
        }
    }

    /// What the state of this run is encrypted for: what of the head is plain and never changes.
    fn bound(&self) -> String {
        let plain = json!([self.agent, self.user, self.session]);
        format!("{}#state of {plain}", keys::head(&self.run))
    }

    /// The same head with another state.
    pub(super) fn with_state(
        self,
        state: &State,
        sealing: Option<&SealingKey>,
    ) -> Result<Self, RunError> {
        Ok(Self { state: Body::of(state, &self.bound(), sealing)?, ..self })
    }

    /// The state of the run. One that was encrypted for another agent, user or session is refused: it would be theirs
    /// whose name was written into the head.
    pub(super) fn state(&self, sealing: Option<&SealingKey>) -> Result<State, RunError> {
        // Earlier releases encrypted it for the run alone; what this release encrypts is not read so.
        let unbound = format!("{}#state", keys::head(&self.run));
        self.state.open(&self.bound(), sealing).or_else(|_| self.state.open(&unbound, sealing))
    }

    /// Reads the head that a document holds.
    ///
    /// # Errors
    /// When it is none, a newer release wrote it, or one of its counters is so high that it was set by hand.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        let head: Self = read_with("head of a run", text, |head| {
            // Heads of before had the tokens alone.
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

    /// Refuses a counter that no run reaches, so that whatever adds to one never gets past the highest number there is.
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

    /// The text of its document.
    pub(super) fn text(&self) -> Result<String, serde_json::Error> {
        written(self)
    }
}

/// A document with its version, as text.
pub(super) fn written(body: &impl Serialize) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct VersionedHead<'a, T> {
        version: u32,
        #[serde(flatten)]
        body: &'a T,
    }
    serde_json::to_string(&VersionedHead { version: Head::VERSION, body })
}

/// A document with a version that this release reads.
pub(super) fn read<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, serde_json::Error> {
    read_with(what, text, |_| {})
}

/// The same, of which something is brought into the form of today.
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

/// Without what the application and the model wrote.
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
