//! Writes the shortened history: omits the parts that the [`Plan`] leaves out, and puts notes in their place.

use std::collections::BTreeMap;

use toolwright::{Answer, Output};

use super::plan::{END, Fate, Plan};
use crate::history::Message;

pub(super) fn rendered(history: &[Message], plan: &Plan<'_>) -> Vec<Message> {
    let mut messages = Vec::with_capacity(history.len());
    let (mut dropped, mut has_summary): (Vec<usize>, bool) = (Vec::new(), false);
    for (index, message) in history.iter().enumerate() {
        if plan.is_dropped(index) {
            dropped.push(index);
            continue;
        }
        // A summary may cover turns of several groups. It replaces the first group of dropped turns, and notes replace
        // the other groups, and the turns of the first group that were dropped after the summary was made.
        let summary = plan.summary().filter(|_| !dropped.is_empty() && !has_summary);
        has_summary |= summary.is_some();
        let mut dropped = std::mem::take(&mut dropped);
        if let Some(summary) = summary {
            messages.push(summary.message());
            dropped.retain(|it| plan.is_unsummarized(*it));
        }
        let dropped: Vec<&Message> = dropped.into_iter().map(|it| &history[it]).collect();
        messages.extend(note(&dropped));
        messages.push(match message {
            Message::ToolResults(answered) if plan.changes(index, answered.len()) => {
                let left = answered.iter().enumerate().map(|(place, (call, answer))| {
                    (call.clone(), answer_of(answer, plan.fate(index, place)))
                });
                Message::ToolResults(left.collect())
            }
            other => other.clone(),
        });
    }
    messages
}

/// Writes the message of the user that replaces dropped turns; `None` if no turn was dropped.
fn note(dropped: &[&Message]) -> Option<Message> {
    let steps = dropped.iter().filter(|it| matches!(it, Message::Assistant { .. })).count();
    if steps == 0 {
        return None;
    }
    let mut called = BTreeMap::new();
    for call in dropped.iter().flat_map(|it| it.calls()) {
        *called.entry(call.name.as_str()).or_insert(0_usize) += 1;
    }
    let called: Vec<String> =
        called.iter().map(|(name, times)| format!("`{name}` {times} times")).collect();
    let called = match called.is_empty() {
        true => String::new(),
        false => format!(" In them you called {}.", called.join(", ")),
    };
    let words = if steps == 1 {
        "An earlier answer of yours is".to_owned()
    } else {
        format!("{steps} earlier answers of yours are")
    };
    Some(Message::user(format!(
        "[{words} left out here, because the conversation is too long for you.{called} Look again at what you need of it.]"
    )))
}

fn answer_of(answer: &Answer, fate: Option<Fate>) -> Answer {
    let text = match fate {
        None => return copy_of(answer),
        Some(Fate::Repeated) => {
            // A later request may leave out the newer answer as well.
            "[left out: you made this call again later; if its newer answer is not below, make it again]"
                .to_owned()
        }
        Some(Fate::Shortened) => shortened(&answer.text(), END),
    };
    let mut output = Output::text(text);
    if let Some(metadata) = answer.metadata() {
        output.metadata.clone_from(metadata);
    }
    output.into()
}

fn copy_of(answer: &Answer) -> Answer {
    toolwright::StoredAnswer::from(answer).into_answer()
}

/// Cuts a text down to its first and last `end` bytes, with a note between them.
pub(super) fn shortened(text: &str, end: usize) -> String {
    if text.len() <= end.saturating_mul(2) {
        return text.to_owned();
    }
    let head = (0..=end).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0);
    let tail = text.len() - end;
    let tail = (tail..=text.len()).find(|it| text.is_char_boundary(*it)).unwrap_or(text.len());
    let gone = tail - head;
    format!(
        "{}\n[{gone} bytes are left out here, because the conversation is too long for you; make the call again if you need them]\n{}",
        &text[..head],
        &text[tail..]
    )
}
