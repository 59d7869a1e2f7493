//! Repairs, by fixed rules, histories that other programs wrote. The functions are pure.

mod repair;

use std::collections::{HashMap, HashSet, VecDeque};

use toolwright::provider::ToolCall;
use toolwright::{Answer, ErrorClass, StoredAnswer, ToolError};

pub use self::repair::{HistoryRepair, ImportError};
use crate::history::Message;

/// A valid history, and the repairs that made it valid.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Imported {
    /// The history, in which every call has exactly one answer, in call order.
    pub history: Vec<Message>,
    /// The changes, in the order of the messages. Messages and calls are counted from 0, as in the original history.
    pub repairs: Vec<HistoryRepair>,
}

/// Brings a history into a form that [`check`](crate::check) accepts, in which every call has an answer and no id is
/// repeated. The result depends only on the history. A second import of the result changes nothing.
///
/// | found | result |
/// | --- | --- |
/// | a call without an answer | is answered `interrupted`: it may have happened |
/// | an answer that is not at the index of its call in the next message | moves to that place |
/// | an answer to no call, or a second answer to the same call | is left out |
/// | an id that an earlier call has | becomes `ID-2`, `ID-3`, …; the answer gets the new id as well |
/// | verbatim content of a message whose call got a new id | is left out |
/// | a message of the model without text, calls and verbatim content, or a message without answers to calls | is left out |
///
/// An answer belongs to a call with the same id and tool, in an earlier message, that has no answer yet. An answer
/// without an id belongs to a call without an id. If several calls fit, the first call of the last message with a
/// fitting call is chosen.
///
/// ```
/// use toolwright::provider::ToolCall;
/// use toolwright_agent::{Message, import};
///
/// let call = ToolCall { id: Some("c1".into()), name: "deploy".into(), arguments: "{}".into() };
/// let imported = import([Message::user("go"), Message::assistant("", [call]), Message::user("well?")])?;
/// assert_eq!(imported.history.len(), 4);
/// assert_eq!(imported.repairs[0].to_string(), "call 0 of message 1, of `deploy`, has no answer: it is answered `interrupted`");
/// # Ok::<(), toolwright_agent::ImportError>(())
/// ```
///
/// # Errors
/// When a message of the model comes before any message of the user, or a call has no name of a tool: no rule can
/// invent the missing text.
pub fn import(messages: impl IntoIterator<Item = Message>) -> Result<Imported, ImportError> {
    let mut reading = Reading::default();
    for (number, message) in messages.into_iter().enumerate() {
        reading.take(number, message)?;
    }
    Ok(reading.finish())
}

/// The part of the history that was read, with each answer stored beside its call.
#[derive(Default)]
struct Reading {
    entries: Vec<Entry>,
    repairs: Vec<HistoryRepair>,
    ids: HashSet<String>,
    /// The last number that was appended to each id, to make it unique.
    numbered: HashMap<String, u64>,
    /// The unanswered calls, by id and tool. Each place is an index into `entries` and the indexes of the unanswered
    /// calls of that message.
    open: HashMap<Key, Vec<(usize, VecDeque<usize>)>>,
}

/// How an answer names its call: by the call's id, if it has one, and the name of its tool.
type Key = (Option<String>, String);

fn key(call: &ToolCall) -> Key {
    (call.id.clone(), call.name.clone())
}

struct Entry {
    /// The index of the message in the original.
    number: usize,
    message: Message,
    /// The calls of the message, each with its answer.
    calls: Vec<Open>,
}

/// A call in its original and its repaired form, and its answer.
struct Open {
    came: ToolCall,
    written: ToolCall,
    answer: Option<StoredAnswer>,
}

impl Reading {
    fn take(&mut self, number: usize, message: Message) -> Result<(), ImportError> {
        match message {
            Message::ToolResults(answered) => {
                if answered.is_empty() {
                    self.repairs.push(HistoryRepair::EmptyMessage { message: number });
                }
                for (index, (to, answer)) in answered.iter().enumerate() {
                    self.answer(number, index, to, answer);
                }
            }
            Message::Assistant { text, calls, verbatim } => {
                if self.entries.is_empty() {
                    return Err(ImportError::ModelFirst { message: number });
                }
                if let Some(call) = calls.iter().position(|call| call.name.trim().is_empty()) {
                    return Err(ImportError::NoTool { message: number, call });
                }
                if calls.is_empty() && text.trim().is_empty() && verbatim.is_none() {
                    self.repairs.push(HistoryRepair::EmptyMessage { message: number });
                    return Ok(());
                }
                self.model(number, text, &calls, verbatim);
            }
            user @ Message::User { .. } => {
                self.entries.push(Entry { number, message: user, calls: Vec::new() });
            }
        }
        Ok(())
    }

    fn model(
        &mut self,
        number: usize,
        text: String,
        calls: &[ToolCall],
        verbatim: Option<crate::history::Verbatim>,
    ) {
        let mut open = Vec::with_capacity(calls.len());
        for (index, call) in calls.iter().enumerate() {
            let mut written = call.clone();
            if let Some(id) = &call.id {
                let free = self.free(id);
                if free != *id {
                    let (from, to) = (id.clone(), free.clone());
                    let tool = call.name.clone();
                    let repair =
                        HistoryRepair::RepeatedId { message: number, call: index, tool, from, to };
                    self.repairs.push(repair);
                }
                self.ids.insert(free.clone());
                written.id = Some(free);
            }
            let at = self.entries.len();
            let places = self.open.entry(key(call)).or_default();
            match places.last_mut().filter(|(last, _)| *last == at) {
                Some((_, calls)) => calls.push_back(index),
                None => places.push((at, VecDeque::from([index]))),
            }
            open.push(Open { came: call.clone(), written, answer: None });
        }
        // The verbatim content of a renamed call still contains the old id, so it is left out.
        let is_renamed = open.iter().any(|call| call.came.id != call.written.id);
        if is_renamed && verbatim.is_some() {
            self.repairs.push(HistoryRepair::NoVerbatim { message: number });
        }
        let verbatim = verbatim.filter(|_| !is_renamed);
        let calls = open.iter().map(|call| call.written.clone()).collect();
        let message = Message::Assistant { text, calls, verbatim };
        self.entries.push(Entry { number, message, calls: open });
    }

    /// Returns the id; if an earlier call has it, the first free id with a numeric suffix.
    fn free(&mut self, id: &str) -> String {
        let mut free = id.to_owned();
        while self.ids.contains(&free) {
            let number = self.numbered.entry(id.to_owned()).or_insert(1);
            *number += 1;
            free = format!("{id}-{number}");
        }
        free
    }

    fn answer(&mut self, message: usize, index: usize, to: &ToolCall, answer: &Answer) {
        let last = self.entries.len().checked_sub(1);
        let mut places = self.open.get_mut(&key(to));
        while let Some(places) =
            places.as_mut().filter(|it| it.last().is_some_and(|(_, calls)| calls.is_empty()))
        {
            places.pop();
        }
        let is_known = places.is_some();
        let place = places
            .and_then(|it| it.last_mut())
            .and_then(|(at, calls)| Some((*at, calls.pop_front()?)));
        let Some((at, call)) = place else {
            let tool = to.name.clone();
            self.repairs.push(match is_known {
                true => HistoryRepair::SecondAnswer { message, answer: index, tool },
                false => HistoryRepair::NoCall { message, answer: index, tool },
            });
            return;
        };
        let entry = &mut self.entries[at];
        entry.calls[call].answer = Some(StoredAnswer::from(answer));
        if Some(at) != last || entry.number + 1 != message || call != index {
            let (tool, from) = (to.name.clone(), entry.number);
            self.repairs.push(HistoryRepair::Moved { message, answer: index, tool, from, call });
        }
    }

    fn finish(self) -> Imported {
        let Self { entries, mut repairs, .. } = self;
        let mut history = Vec::with_capacity(entries.len() * 2);
        for Entry { number, message, calls } in entries {
            history.push(message);
            if calls.is_empty() {
                continue;
            }
            let answered = calls.into_iter().enumerate().map(|(index, call)| {
                let answer = call.answer.map(StoredAnswer::into_answer).unwrap_or_else(|| {
                    let tool = call.written.name.clone();
                    repairs.push(HistoryRepair::Unanswered { message: number, call: index, tool });
                    interrupted(&call.written).into()
                });
                (call.written, answer)
            });
            history.push(Message::tool_results(answered.collect::<Vec<_>>()));
        }
        repairs.sort_by_key(HistoryRepair::message);
        Imported { history, repairs }
    }
}

fn interrupted(call: &ToolCall) -> ToolError {
    ToolError::new(
        "interrupted",
        format!("the call of `{}` has no answer in this history", call.name),
    )
    .class(ErrorClass::Unknown)
    .hint("look whether it has taken effect before you make it again")
}

#[cfg(test)]
mod tests;
