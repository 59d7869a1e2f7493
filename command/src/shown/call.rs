//! A call as JSON, for programs. All keys are always present.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use toolwright::journal::{
    AnswerRecord, CallRecord, CallSlot, DamagedCall, FailedAttempt, Failure, ParentCall, State,
    StoredText,
};
use toolwright::repair::Change;
use toolwright::{CallId, Danger, Effect};

use super::decision::verdict;
use super::json;

/// The state that is printed for a call that cannot be read.
pub(crate) const DAMAGED: &str = "damaged";

/// A call as JSON, for programs.
#[derive(Serialize)]
pub(crate) struct Call<'a> {
    id: CallId,
    state: State,
    tool: &'a str,
    danger: Danger,
    effect: Effect,
    run: &'a str,
    turn: Option<u64>,
    index: u32,
    parent: Option<ParentCall>,
    awaits: &'a [CallId],
    provider_id: Option<&'a str>,
    agent: &'a str,
    user: Option<&'a str>,
    arguments: Box<RawValue>,
    has_secrets: bool,
    repairs: &'a [Change],
    raw: Option<&'a str>,
    digest: &'a str,
    fingerprint: &'a str,
    idempotency_key: &'a str,
    trace: Option<&'a str>,
    version: u64,
    generation: u32,
    attempt: u32,
    owner: Option<&'a str>,
    epoch: u64,
    lease: Option<Timestamp>,
    not_before: Option<Timestamp>,
    ask: Option<AskRow<'a>>,
    decision: Option<Decision>,
    grant: Option<&'a str>,
    has_proposal: bool,
    failures: Vec<Attempt<'a>>,
    answer: Option<Answer<'a>>,
    result: Option<Answer<'a>>,
    delivered: bool,
    created: Timestamp,
    updated: Timestamp,
    /// The reason why the call cannot be read; `None` if it can.
    damage: Option<String>,
}

#[derive(Serialize)]
struct AskRow<'a> {
    reason: &'a str,
    preview: Option<&'a str>,
    deadline: Timestamp,
}

#[derive(Serialize)]
struct Decision {
    verdict: &'static str,
    by: String,
    at: Timestamp,
    key: String,
}

#[derive(Serialize)]
struct Attempt<'a> {
    attempt: u32,
    at: Timestamp,
    failure: Failure,
    kind: &'a str,
    /// The error's message; `None` if there is none, or if it may repeat a secret.
    message: Option<&'a str>,
    cause: Option<&'a str>,
}

#[derive(Serialize)]
struct Answer<'a> {
    is_error: bool,
    /// The answer's text; `None` if it may repeat a secret.
    text: Option<&'a str>,
}

/// Returns whether the arguments, or what the model sent, are not stored as plain text, because they have secrets or
/// were deleted. Answers and messages are then not shown.
pub(crate) fn has_secrets(call: &CallRecord) -> bool {
    !matches!((&call.arguments, &call.raw), (StoredText::Plain(_), StoredText::Plain(_)))
}

impl<'a> Call<'a> {
    pub(crate) fn of(call: &'a CallRecord) -> Self {
        let has_secrets = has_secrets(call);
        let raw = match &call.raw {
            StoredText::Plain(text) if !has_secrets => Some(text.as_str()),
            _ => None,
        };
        let ask = call.ask.as_ref();
        let answer = |answered: &'a AnswerRecord| Answer {
            is_error: answered.is_error,
            text: (!has_secrets).then_some(answered.text.as_str()),
        };
        let attempt = |failed: &'a FailedAttempt| Attempt {
            attempt: failed.attempt,
            at: failed.at,
            failure: failed.failure,
            kind: &failed.kind,
            message: failed.message.as_deref().filter(|_| !has_secrets),
            cause: failed.cause.as_deref().filter(|_| !has_secrets),
        };
        Self {
            id: call.id,
            state: call.state,
            tool: &call.tool,
            danger: call.danger,
            effect: call.effect,
            run: &call.place.run,
            turn: call.place.turn,
            index: call.place.index,
            parent: call.parent,
            awaits: &call.awaits,
            provider_id: call.provider_id.as_deref(),
            agent: &call.requester.agent,
            user: call.requester.user.as_deref(),
            arguments: json::raw(&call.shown),
            has_secrets,
            repairs: &call.repairs,
            raw,
            digest: &call.digest,
            fingerprint: &call.fingerprint,
            idempotency_key: &call.idempotency_key,
            trace: call.trace.as_deref(),
            version: call.version,
            generation: call.generation,
            attempt: call.attempt,
            owner: call.owner.as_deref(),
            epoch: call.epoch,
            lease: call.lease,
            not_before: call.not_before,
            ask: ask.map(|ask| AskRow {
                reason: &ask.reason,
                preview: ask.preview.as_deref(),
                deadline: ask.deadline,
            }),
            decision: decision(call),
            grant: call.grant.as_deref(),
            has_proposal: call.proposal.is_some(),
            failures: call.failures.iter().map(attempt).collect(),
            answer: call.answer.as_ref().map(answer),
            result: call.result.as_ref().map(answer),
            delivered: call.delivered,
            created: call.created,
            updated: call.updated,
            damage: None,
        }
    }

    /// Makes the JSON object of a call that cannot be read, with all keys of a call.
    pub(crate) fn damaged_row(damaged: &DamagedCall) -> serde_json::Value {
        let slot = CallSlot { run: String::new(), turn: None, index: 0 };
        let draft = CallRecord::draft(damaged.id, slot, "", Timestamp::UNIX_EPOCH);
        let mut all = serde_json::json!(Call::of(&draft));
        if let Some(keys) = all.as_object_mut() {
            keys.values_mut().for_each(|value| *value = serde_json::Value::Null);
        }
        all["id"] = damaged.id.to_string().into();
        all["state"] = DAMAGED.into();
        all["damage"] = damaged.to_string().into();
        all
    }
}

/// Returns the signed decision about the call, if it can be read.
fn decision(call: &CallRecord) -> Option<Decision> {
    let signed = call.decision.as_ref()?;
    let statement = signed.statement().ok()?;
    let verdict = verdict(&statement.verdict);
    Some(Decision { verdict, by: statement.by, at: statement.at, key: signed.key.clone() })
}
