//! The record of one call in a journal.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::answered::AnswerRecord;
use super::copies::Copies;
use super::counter::{Counter, NotAdvanced};
use super::entry::{Entry, FailedAttempt, Note};
use super::next::{Transition, next};
use super::parent::ParentCall;
use super::state::State;
use crate::approval::SignedStatement;
use toolwright_core::context::CallId;
use toolwright_core::repairs::Change;
use toolwright_core::tool::{Danger, Effect};

/// The version of the stored form; an older reader refuses newer data.
pub const FORMAT: u32 = 1;

/// How many changes the end of an attempt may need, with a margin.
const ENDING: u64 = 16;

/// The slot of a call in its run. It identifies the call, because providers' ids may be missing or repeated.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallSlot {
    /// The id of the run.
    pub run: String,
    /// The turn of the run, counted by the application; `None` for a call outside of turns, which is identified by its
    /// id alone.
    pub turn: Option<u64>,
    /// The index of the call in the turn, counted from 0.
    pub index: u32,
}

/// Who made a call, and on behalf of which user.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Requester {
    /// The maker of the call: `agent:<run>`.
    pub agent: String,
    /// The user on whose behalf the call was made.
    pub user: Option<String>,
    /// The session that the call's run belonged to.
    #[serde(default)]
    pub session: Option<String>,
}

/// A text that may hold secrets.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoredText {
    /// The text holds no secrets.
    Plain(String),
    /// Encrypted with the executor's key: hexadecimal digits of nonce and cipher text.
    #[serde(rename = "sealed")]
    Encrypted(String),
    /// The text was not stored, because there was no key to encrypt it with.
    #[serde(rename = "withheld")]
    Omitted,
}

/// The question that is put to a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Why a person is asked.
    pub reason: String,
    /// The tool's own preview of the call.
    pub preview: Option<String>,
    /// When the question expires.
    pub deadline: Timestamp,
    /// Whether an approver has been notified.
    #[serde(rename = "told")]
    pub notified: bool,
    /// Whether a reviewer may decide instead of a person: no rule asks about each call. A record of a release without
    /// this field needs a person.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reviewable: bool,
}

/// The present record of one call.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallRecord {
    /// The call's own id.
    pub id: CallId,
    /// The slot of the call in its run.
    pub place: CallSlot,
    /// The parent, if another call makes this one. Such a call is outside of turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentCall>,
    /// The id that the provider gave the call.
    pub provider_id: Option<String>,
    /// The tool's name.
    pub tool: String,
    /// The fingerprint of the tool's definition at the last evaluation, in hexadecimal.
    pub fingerprint: String,
    /// How carefully a person should look at the call.
    pub danger: Danger,
    /// Whether the call may be repeated.
    pub effect: Effect,
    /// Parameters whose values are secret, by name, whether or not they are given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// The arguments as the model sent them.
    pub raw: StoredText,
    /// The arguments that run: repaired, with defaults filled in, in canonical form.
    pub arguments: StoredText,
    /// The arguments as people are shown them, with secrets masked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub shown: String,
    /// Which of the call's texts a store has left out.
    #[doc(hidden)]
    #[serde(default, skip_serializing_if = "Copies::is_none")]
    pub copies: Copies,
    /// The changes that a repair has made.
    pub repairs: Vec<Change>,
    /// The digest that a decision is bound to, in hexadecimal.
    pub digest: String,
    /// Who made the call, and on behalf of which user.
    pub requester: Requester,
    /// The id of the journal in which the call was evaluated; `None` in a record of the version before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<String>,
    /// The project of the executor that evaluated it, if that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The idempotency key, which is the same for every attempt.
    pub idempotency_key: String,
    /// The id of the application's trace in which the call was made; see `ExecutorBuilder::trace_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,

    /// The state of the call.
    pub state: State,
    /// Rises by one with every change of this record, except changes of its lease and of
    /// [`delivered`](Self::delivered), which its owner does not need to see.
    pub version: u64,
    /// The number of the generation, which is raised by one whenever the policy evaluates the call again.
    pub generation: u32,
    /// How many attempts have begun in this generation.
    pub attempt: u32,
    /// The executor that runs the call.
    pub owner: Option<String>,
    /// The number of the last claim, which is raised by one with every claim.
    pub epoch: u64,
    /// When the lease of the owner expires, unless the owner renews it.
    pub lease: Option<Timestamp>,
    /// The time before which the call must not be claimed.
    pub not_before: Option<Timestamp>,

    /// The question to a person, if one was asked.
    pub ask: Option<Ask>,
    /// The decision of a person in this generation.
    pub decision: Option<SignedStatement>,
    /// The acceptance of the call's plan by a person. It counts only for the call as it was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<SignedStatement>,
    /// The grant that covers the call.
    pub grant: Option<String>,
    /// New arguments that are still to be evaluated, as JSON text.
    pub proposal: Option<String>,

    /// The children that the call waits for, while it is [`Waiting`](State::Waiting).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaits: Vec<CallId>,
    /// When the result of the call is due, if it was handed over to be carried out elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed_over_until: Option<Timestamp>,
    /// The names of the tools that the call may call, if it makes calls and its run is shown only some tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub may_call: Option<Vec<String>>,

    /// How its attempts failed, in order, in the last generation that ran. They stay until the next claim, so that the
    /// person who decides on the call sees them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailedAttempt>,
    /// The one answer of the call, as the run gets it.
    pub answer: Option<AnswerRecord>,
    /// The later result of a call whose run had its answer before: of a planned call that was accepted, or of a dead
    /// letter that was requeued. It is only for operators and listeners; the run's history already has the earlier
    /// answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<AnswerRecord>,
    /// Whether the run has received its answer; this never becomes false again.
    pub delivered: bool,
    /// When the call was recorded.
    pub created: Timestamp,
    /// When the record last changed.
    pub updated: Timestamp,
}

impl CallRecord {
    /// The value of [`shown`](Self::shown) if an operator has deleted the arguments, as JSON.
    pub const FORGOTTEN: &str = r#""(forgotten)""#;

    /// Makes the record of a call before its first evaluation: without arguments, and with the strictest danger and
    /// effect, `critical` and `once`. The caller replaces these by the real values.
    #[must_use]
    pub fn draft(id: CallId, place: CallSlot, tool: impl Into<String>, at: Timestamp) -> Self {
        Self {
            id,
            place,
            parent: None,
            provider_id: None,
            tool: tool.into(),
            fingerprint: String::new(),
            danger: Danger::Critical,
            effect: Effect::Once,
            secrets: Vec::new(),
            raw: StoredText::Omitted,
            arguments: StoredText::Omitted,
            shown: String::new(),
            copies: Copies::default(),
            repairs: Vec::new(),
            digest: String::new(),
            requester: Requester::default(),
            journal: None,
            project: None,
            idempotency_key: id.to_string(),
            trace: None,
            state: State::Judging,
            version: 1,
            generation: 1,
            attempt: 0,
            owner: None,
            epoch: 0,
            lease: None,
            not_before: None,
            ask: None,
            decision: None,
            accepted: None,
            grant: None,
            proposal: None,
            awaits: Vec::new(),
            handed_over_until: None,
            may_call: None,
            failures: Vec::new(),
            answer: None,
            result: None,
            delivered: false,
            created: at,
            updated: at,
        }
    }

    /// Changes the record. Programs that make records, such as the tests of a store, change a [`draft`](Self::draft).
    ///
    /// ```
    /// use toolwright::CallId;
    /// use toolwright::journal::{CallRecord, CallSlot, State};
    ///
    /// let slot = CallSlot { run: "run".to_owned(), turn: None, index: 0 };
    /// # let now = "2026-01-01T00:00:00Z".parse()?;
    /// let record = CallRecord::draft(CallId::from_bytes([7; 16]), slot, "send_mail", now);
    /// let record = record.with(|it| it.state = State::Pending);
    /// assert_eq!(record.state, State::Pending);
    /// # Ok::<(), jiff::Error>(())
    /// ```
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Sets the answer of the call. If the run has an answer already, that answer stays, and this one becomes the
    /// record's [`result`](Self::result).
    pub fn answer_with(&mut self, answer: impl Into<AnswerRecord>) {
        let place = if self.answer.is_none() { &mut self.answer } else { &mut self.result };
        *place = Some(answer.into());
    }

    /// Returns when the executor has to act if nothing else happens: the deadline of a decision, the end of a lease, or
    /// the time of the next attempt; `None` if it need not act.
    #[must_use]
    pub fn due(&self) -> Option<Timestamp> {
        match self.state {
            State::Pending => self.ask.as_ref().map(|ask| ask.deadline),
            State::Running => self.lease,
            State::HandedOver => self.handed_over_until,
            // Not the time of the decision: the approver's clock may be ahead.
            State::Ready => Some(self.not_before.unwrap_or(self.created)),
            State::Judging => Some(self.created),
            _ => None,
        }
    }

    /// Applies a transition: the state machine decides the next state, and the counters follow. Returns the entry for
    /// its history.
    ///
    /// The caller sets the other data of the transition, such as an answer, an owner or new arguments.
    ///
    /// # Errors
    /// When the transition is impossible in its state, or one of its counters is at its maximum; the record does not
    /// change.
    pub fn advance(&mut self, event: Transition, note: Note) -> Result<Entry, NotAdvanced> {
        let from = self.state;
        let to = next(from, event)?;
        let Self { mut version, mut generation, mut attempt, mut epoch, .. } = *self;
        Counter::Version.raise(&mut version)?;
        if to == State::Judging {
            Counter::Generation.raise(&mut generation)?;
        }
        if event == Transition::Claimed {
            // A claim is refused unless the version can still count the end of the attempt: every end must be
            // recordable.
            let room = version.checked_add(ENDING);
            room.ok_or(NotAdvanced::AtMaximum(Counter::Version))?;
            Counter::Epoch.raise(&mut epoch)?;
            Counter::Attempt.raise(&mut attempt)?;
        }
        let is_first = self.attempt == 0;
        (self.version, self.generation, self.attempt, self.epoch) =
            (version, generation, attempt, epoch);
        self.state = to;
        self.updated = note.at;
        if to == State::Judging {
            self.attempt = 0;
            self.not_before = None;
            self.grant = None;
        }
        match event {
            // The attempt is not counted, because it continues when the call resumes.
            Transition::Suspended => {
                self.attempt = self.attempt.saturating_sub(1);
                (self.owner, self.lease) = (None, None);
            }
            Transition::Claimed if is_first => self.failures.clear(),
            Transition::Claimed => {}
            _ => {
                self.owner = None;
                self.lease = None;
            }
        }
        Ok(self.entry(Some((from, event)), note))
    }

    /// Raises the version for a change that is not a transition.
    ///
    /// # Errors
    /// When the version is at its maximum; the record does not change.
    #[doc(hidden)]
    pub fn raise_version(&mut self) -> Result<(), NotAdvanced> {
        Counter::Version.raise(&mut self.version)
    }

    /// Makes the first entry of the call's history.
    #[must_use]
    pub fn opened(&self, note: Note) -> Entry {
        self.entry(None, note)
    }

    /// Makes the entry of a transition.
    fn entry(&self, happened: Option<(State, Transition)>, note: Note) -> Entry {
        Entry {
            call: self.id,
            number: self.version,
            at: note.at,
            who: note.who,
            from: happened.map(|(from, _)| from),
            event: happened.map(|(_, event)| event),
            to: self.state,
            generation: self.generation,
            digest: self.digest.clone(),
            why: note.why,
            signed: note.signed,
        }
    }
}

/// Omits texts of a model or a person, which may be secret.
impl fmt::Debug for CallRecord {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CallRecord")
            .field("id", &self.id)
            .field("place", &self.place)
            .field("tool", &self.tool)
            .field("state", &self.state)
            .field("version", &self.version)
            .field("generation", &self.generation)
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}

/// Omits a plain text, which may be secret.
impl fmt::Debug for StoredText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Plain(_) => "Plain(..)",
            Self::Encrypted(_) => "Sealed(..)",
            Self::Omitted => "Withheld",
        })
    }
}
