//! An entry of a call's history, for people and programs.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use toolwright::CallId;
use toolwright::journal::{CallRecord, Entry, Failure, State, Transition};

use super::decision::verdict;
use super::{printable, when};

/// A history entry as JSON, for programs. All keys are always present.
#[derive(Serialize)]
pub(crate) struct EntryRow<'a> {
    call: CallId,
    tool: &'a str,
    run: &'a str,
    number: u64,
    at: Timestamp,
    who: &'a str,
    from: Option<State>,
    event: Option<String>,
    failure: Option<Failure>,
    exhausted: Option<bool>,
    to: State,
    generation: u32,
    digest: &'a str,
    why: Option<&'a str>,
    verdict: Option<&'static str>,
    key: Option<&'a str>,
}

impl<'a> EntryRow<'a> {
    pub(crate) fn of(call: &'a CallRecord, entry: &'a Entry) -> Self {
        let (failure, exhausted) = match entry.event {
            Some(Transition::Errored { failure, exhausted, .. }) => {
                (Some(failure), Some(exhausted))
            }
            _ => (None, None),
        };
        let statement = entry.signed.as_ref().and_then(|signed| signed.statement().ok());
        Self {
            call: entry.call,
            tool: &call.tool,
            run: &call.place.run,
            number: entry.number,
            at: entry.at,
            who: &entry.who,
            from: entry.from,
            event: entry.event.and_then(name),
            failure,
            exhausted,
            to: entry.to,
            generation: entry.generation,
            digest: &entry.digest,
            why: entry.why.as_deref(),
            verdict: statement.as_ref().map(|it| verdict(&it.verdict)),
            key: entry.signed.as_ref().map(|signed| signed.key.as_str()),
        }
    }

    /// Describes the entry on one line, without the call's id.
    pub(crate) fn words(entry: &Entry) -> String {
        let event = entry.event.map_or("recorded".to_owned(), |event| event.to_string());
        let mut words = format!(
            "{}  {:<13}  {event} by {}",
            when::absolute(entry.at),
            entry.to,
            printable::line(&entry.who)
        );
        if entry.generation > 1 {
            words = format!("{words}, generation {}", entry.generation);
        }
        if let Some(why) = &entry.why {
            words = format!("{words}: {}", printable::line(why));
        }
        words
    }
}

/// Returns the name under which the journal stores a transition, without its fields.
fn name(event: Transition) -> Option<String> {
    match serde_json::to_value(event).ok()? {
        Value::String(name) => Some(name),
        Value::Object(object) => object.keys().next().cloned(),
        _ => None,
    }
}
