//! Supplies the result of a call that was handed over: verifies the token, checks the result against the tool's output
//! schema, and records the result as `decide` decides.

use super::driver::Lifecycle;
use super::snapshot::HandsOver;
use super::step::{Input, SuppliedResult};
use serde_json::Value;

use crate::call::CallFailure;
use crate::catalog::Entry;
use crate::handed_over::{HandedOver, SupplyError};
use toolwright_core::context::CallId;
use toolwright_core::error::ToolError;
use toolwright_core::input::Problem;
use toolwright_core::json::read;
use toolwright_core::output::Answer;
use toolwright_core::tool::Definition;
use toolwright_journal::approval::{HandOverToken, InvalidToken};
use toolwright_journal::journal::{CallRecord, Filter, State};

/// The maximum size of a supplied result in bytes.
const MOST_BYTES: usize = 4 * 1024 * 1024;

impl Lifecycle<'_> {
    /// Returns how this executor hands over the calls of an external tool.
    pub(super) fn hands_over(self, definition: &Definition) -> HandsOver {
        let within = definition.timeout.or(Some(self.journal.expires_after));
        let lacks_key = self.journal.hand_over.is_of_process && self.journal.store.is_durable();
        HandsOver {
            within: within.unwrap_or(self.journal.expires_after),
            why_not: lacks_key.then(|| {
                format!(
                    "`{}` is carried out elsewhere, and the journal outlives the key of this process: give it a stored one by `Journal::hand_over_key`",
                    definition.name
                )
            }),
        }
    }

    /// Makes the data that another process needs to carry out a call; `None` if the call was not handed over.
    ///
    /// # Errors
    /// When the arguments of the call cannot be read in this process. The text says why.
    pub(super) fn handed_over(self, record: &CallRecord) -> Result<Option<HandedOver>, String> {
        let Some(until) = record.handed_over_until.filter(|_| record.state == State::HandedOver)
        else {
            return Ok(None);
        };
        let mut arguments = self.arguments(record)?;
        if let Ok(found) = self.tool(record) {
            let own = found.plan().entry.own_final_text(&arguments);
            arguments = own.map_err(|error| error.to_string())?.into_owned();
        }
        let token = HandOverToken::of(record, &self.journal.hand_over.key);
        Ok(token.map(|token| HandedOver {
            call: record.id,
            run: record.place.run.clone(),
            tool: record.tool.clone(),
            arguments,
            idempotency_key: record.idempotency_key.clone(),
            token,
            until,
        }))
    }

    /// Calls [`handed_over`](Self::handed_over), but traces an error and returns `None`.
    pub(super) fn handed_over_or_traced(self, record: &CallRecord) -> Option<HandedOver> {
        let handed_over = self.handed_over(record);
        let traced = handed_over.inspect_err(|why| {
            tracing::warn!(call = %record.id, why, "a call that was handed over cannot be shown");
        });
        traced.ok().flatten()
    }

    pub(crate) async fn all_handed_over(self) -> Result<Vec<HandedOver>, CallFailure> {
        let filter = Filter { states: vec![State::HandedOver], ..Filter::default() };
        let found = self.all(&filter).await?.calls;
        Ok(found.iter().filter_map(|record| self.handed_over_or_traced(record)).collect())
    }

    pub(crate) async fn supply(
        self,
        id: CallId,
        token: &str,
        result: Result<&str, ToolError>,
    ) -> Result<(), SupplyError> {
        let record = self.load(id).await.map_err(|failure| unread(id, failure))?;
        let invalid = |why: InvalidToken| SupplyError::Token { call: id, why };
        let token: HandOverToken = token.parse().map_err(invalid)?;
        let key = self.journal.hand_over.key.public();
        token.verify(&record, key).map_err(invalid)?;
        let answer = match result {
            // A call that has ended accepts no result.
            _ if record.state != State::HandedOver => return Err(ended(record)),
            Ok(json) => self.check_promise(&record, json)?,
            Err(error) => {
                is_small_enough(id, error.to_json().len())?;
                error.into()
            }
        };
        let answer = self.store_answer(&record, &answer);
        let supplied = SuppliedResult { generation: record.generation, answer };
        let mut look = self.look(record, None, None);
        let mut input = Input::Supplied(supplied);
        let advanced = self.advance(&mut look, &mut input).await;
        advanced.map_err(|failure| unread(id, failure))?;
        let is_taken = matches!(look.record().state, State::Succeeded | State::Failed);
        match look.is_committed() && is_taken {
            true => Ok(()),
            false => Err(ended(look.into_record())),
        }
    }

    /// Converts a supplied result to an answer, if it matches the tool's output schema.
    fn check_promise(self, record: &CallRecord, json: &str) -> Result<Answer, SupplyError> {
        let (call, tool) = (record.id, record.tool.clone());
        is_small_enough(call, json.len())?;
        let found = match self.tool(record) {
            Ok(found) => found,
            Err(why) => return Err(SupplyError::NotHere { call, tool, why }),
        };
        answer_of(&found.plan().entry, json).map_err(|problems| SupplyError::Output {
            call,
            tool,
            problems,
        })
    }
}

/// Refuses a result or an error that is too large for the journal.
fn is_small_enough(call: CallId, found: usize) -> Result<(), SupplyError> {
    match found > MOST_BYTES {
        true => Err(SupplyError::TooLarge { call, found, most: MOST_BYTES }),
        false => Ok(()),
    }
}

/// Converts JSON text to the answer of a tool.
fn answer_of(entry: &Entry, json: &str) -> Result<Answer, Vec<String>> {
    // Refuses a repeated key, and text that is not JSON from start to end.
    read(json).map_err(|error| vec![error.to_string()])?;
    let json = json.trim();
    let schema = entry.definition.output_schema.as_ref();
    if schema.is_some() {
        let Some(checker) = entry.output() else {
            return Err(vec!["the output schema of the tool cannot be checked".to_owned()]);
        };
        let words = |problems: Vec<_>| problems.iter().map(Problem::to_string).collect::<Vec<_>>();
        checker.check_text(json).map_err(words)?;
    }
    Ok(match serde_json::from_str::<String>(json) {
        Ok(text) if schema.is_none_or(is_of_text) => Answer::from_text(text),
        _ => Answer::from_json(json.to_owned()),
    })
}

/// Returns whether the output schema may be that of a function which returns a `String`: its type is `string`, and it
/// has none of the keywords `enum`, `const` and `format`.
fn is_of_text(schema: &Value) -> bool {
    schema["type"] == "string"
        && ["enum", "const", "format"].iter().all(|key| schema.get(key).is_none())
}

fn ended(record: CallRecord) -> SupplyError {
    let CallRecord { id: call, tool, state, updated: at, .. } = record;
    SupplyError::Ended { call, tool, state, at }
}

fn unread(call: CallId, failure: CallFailure) -> SupplyError {
    match failure {
        CallFailure::NoSuchCall(call) => SupplyError::NoSuchCall(call),
        CallFailure::NotRecorded { error, .. } => SupplyError::NotRecorded { call, error },
        CallFailure::NotHere { tool, why, .. } => SupplyError::NotHere { call, tool, why },
        failure => {
            let (tool, why) = (call.to_string(), failure.to_string());
            SupplyError::NotHere { call, tool, why }
        }
    }
}
