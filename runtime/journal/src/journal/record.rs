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

/// The version of the format in which records are stored. A release refuses data of a newer version.
pub const FORMAT: u32 = 1;

/// How far below the maximum version a claim must stay, so that the end of the attempt can raise the version again.
const ENDING: u64 = 16;

/// The slot of a call in its run. It identifies a call of a turn, because the ids that providers give to calls may be
/// missing or repeated.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallSlot {
    /// The id of the run.
    pub run: String,
    /// The number of the turn, given by the application. `None` for a call outside of turns, which is identified only
    /// by its id.
    pub turn: Option<u64>,
    /// The index of the call in the turn, counted from 0.
    pub index: u32,
}

/// Who made a call, and on behalf of which user.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Requester {
    /// The agent that made the call: `agent:<run>`. If the run delegated a task to a sub-agent that made the call, the
    /// path of the sub-agent follows.
    pub agent: String,
    /// The user on whose behalf the call was made.
    pub user: Option<String>,
    /// The session to which the run of the call belongs.
    #[serde(default)]
    pub session: Option<String>,
}

/// A text that may hold secrets.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoredText {
    /// The text holds no secrets.
    Plain(String),
    /// The text is encrypted with the executor's key, and written as hexadecimal digits of nonce and cipher text.
    #[serde(rename = "sealed")]
    Encrypted(String),
    /// The text is not stored: the executor had no key to encrypt it with, or an operator deleted it.
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
    /// Whether an approver has been notified of the question.
    #[serde(rename = "told")]
    pub notified: bool,
    /// Whether a reviewer may decide instead of a person. It is false if a policy rule requires a person for each call,
    /// for a planned call, and in a record of a release without this field.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reviewable: bool,
}

/// The present record of one call.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallRecord {
    /// The call's own id.
    pub id: CallId,
    /// The position of the call: the run, the turn and the index.
    pub place: CallSlot,
    /// The parent, if another call makes this call. Such a call belongs to no turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentCall>,
    /// The id that the provider gave to the call.
    pub provider_id: Option<String>,
    /// The tool's name.
    pub tool: String,
    /// The fingerprint of the tool's definition at the last evaluation, in hexadecimal.
    pub fingerprint: String,
    /// The danger of the call, by which a person knows how carefully to look at it.
    pub danger: Danger,
    /// The effect of the call, which decides whether it may be repeated.
    pub effect: Effect,
    /// The names of the parameters whose values are secret, whether or not the call has values for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// The arguments as the model sent them.
    pub raw: StoredText,
    /// The arguments that run: repaired, and with defaults filled in.
    pub arguments: StoredText,
    /// The arguments in the form that people see, with secrets masked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub shown: String,
    /// Which of `raw` and `shown` the stored form omits, because they equal `arguments`.
    #[doc(hidden)]
    #[serde(default, skip_serializing_if = "Copies::is_none")]
    pub copies: Copies,
    /// The changes that input repair made to the arguments.
    pub repairs: Vec<Change>,
    /// The digest of the call in hexadecimal; a decision is valid only for a call with this digest.
    pub digest: String,
    /// Who made the call, and on behalf of which user.
    pub requester: Requester,
    /// The id of the journal in which the call was evaluated; `None` in a record of the previous format version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<String>,
    /// The project of the executor that evaluated the call, if the executor has a project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The idempotency key, which is the same for every attempt.
    pub idempotency_key: String,
    /// The id of the application's trace in which the call was made; see `ExecutorBuilder::trace_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,

    /// The state of the call.
    pub state: State,
    /// The version of the record, raised by one with every change. Changes of the lease and of
    /// [`delivered`](Self::delivered) do not raise it, because the owner of the call does not need to see them.
    pub version: u64,
    /// The generation of the call, raised by one whenever the policy evaluates the call again.
    pub generation: u32,
    /// How many attempts of the call have begun in this generation.
    pub attempt: u32,
    /// The name of the executor that runs the call.
    pub owner: Option<String>,
    /// The number of times the call was claimed.
    pub epoch: u64,
    /// When the owner's lease on the call ends, unless the owner renews it.
    pub lease: Option<Timestamp>,
    /// The time before which the call must not be claimed.
    pub not_before: Option<Timestamp>,

    /// The question that a person was asked about the call, if there is one.
    pub ask: Option<Ask>,
    /// The signed decision of a person on this generation of the call.
    pub decision: Option<SignedStatement>,
    /// The signed acceptance of the call's plan. It is valid only while the call has the digest that the person
    /// accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<SignedStatement>,
    /// The id of the grant that covers the call.
    pub grant: Option<String>,
    /// The new arguments that an approver or operator proposed, as JSON text, until the policy evaluates them.
    pub proposal: Option<String>,

    /// The children for which the call waits, while the call is [`Waiting`](State::Waiting).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaits: Vec<CallId>,
    /// When the result of a call that was handed over is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed_over_until: Option<Timestamp>,
    /// The names of the tools that this call itself may call; `None` if no list restricts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub may_call: Option<Vec<String>>,

    /// The failed attempts of the last generation that ran, in order. They are kept until the call is claimed in a
    /// later generation, so that the person who decides on the call sees them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailedAttempt>,
    /// The answer that the run receives. It never changes.
    pub answer: Option<AnswerRecord>,
    /// The result of a call whose run received an answer before the call ran: a planned call that was accepted, or a
    /// dead letter that was requeued. Only operators and listeners see this result, because the run's history already
    /// has the earlier answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<AnswerRecord>,
    /// Whether the run has received the answer of the call; this never becomes false again.
    pub delivered: bool,
    /// When the call was recorded.
    pub created: Timestamp,
    /// When the record of the call last changed.
    pub updated: Timestamp,
}

impl CallRecord {
    /// The value of [`shown`](Self::shown), as JSON, after an operator has deleted the arguments.
    pub const FORGOTTEN: &str = r#""(forgotten)""#;

    /// Makes the record of a call before its first evaluation: without arguments, and with the strictest danger and
    /// effect, `critical` and `once`. The caller replaces these values by the real ones.
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

    /// Returns the record with a change. Programs that make records, such as the tests of a store, change a
    /// [`draft`](Self::draft).
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

    /// Sets the answer of the call. If the run already has an answer, the new answer becomes the record's
    /// [`result`](Self::result) instead.
    pub fn answer_with(&mut self, answer: impl Into<AnswerRecord>) {
        let place = if self.answer.is_none() { &mut self.answer } else { &mut self.result };
        *place = Some(answer.into());
    }

    /// Returns when the executor has to act if nothing else happens: the deadline of a decision or of a supplied
    /// result, the end of a lease, or the time of the next attempt. A call that waits to be evaluated is due since it
    /// was recorded. Returns `None` if the executor need not act.
    #[must_use]
    pub fn due(&self) -> Option<Timestamp> {
        match self.state {
            State::Pending => self.ask.as_ref().map(|ask| ask.deadline),
            State::Running => self.lease,
            State::HandedOver => self.handed_over_until,
            // The time of the decision is not used, because the approver's clock may be ahead.
            State::Ready => Some(self.not_before.unwrap_or(self.created)),
            State::Judging => Some(self.created),
            _ => None,
        }
    }

    /// Applies a transition: sets the next state according to the state machine, and raises the counters. Returns the
    /// entry for the call's history.
    ///
    /// The caller sets the other data of the transition, such as an answer, an owner or new arguments.
    ///
    /// # Errors
    /// When the transition is impossible in the call's state, or one of the record's counters is at its maximum. The
    /// record does not change.
    pub fn advance(&mut self, event: Transition, note: Note) -> Result<Entry, NotAdvanced> {
        let from = self.state;
        let to = next(from, event)?;
        let Self { mut version, mut generation, mut attempt, mut epoch, .. } = *self;
        Counter::Version.raise(&mut version)?;
        if to == State::Judging {
            Counter::Generation.raise(&mut generation)?;
        }
        if event == Transition::Claimed {
            // Every end of an attempt must be recordable, so a claim leaves room for the versions that this needs.
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
            // Suspension does not count as an attempt, because the attempt continues when the call resumes.
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
    /// When the version is at its maximum. The record does not change.
    #[doc(hidden)]
    pub fn raise_version(&mut self) -> Result<(), NotAdvanced> {
        Counter::Version.raise(&mut self.version)
    }

    /// Makes the first entry of the call's history, which has no transition.
    #[must_use]
    pub fn opened(&self, note: Note) -> Entry {
        self.entry(None, note)
    }

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

/// Omits the texts that a model or a person wrote, because they may contain secrets.
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

/// Omits the text, because it may contain a secret.
impl fmt::Debug for StoredText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Plain(_) => "Plain(..)",
            Self::Encrypted(_) => "Sealed(..)",
            Self::Omitted => "Withheld",
        })
    }
}
