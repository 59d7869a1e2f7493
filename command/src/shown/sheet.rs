//! A page about one call, for people.

use std::fmt::Write as _;

use jiff::Timestamp;
use toolwright::Effect;
use toolwright::approval::ApprovalRequest;
use toolwright::journal::{AnswerRecord, CallRecord, Entry, FailedAttempt, State, StoredText};

use super::call::has_secrets;
use super::entry::EntryRow;
use super::{json, printable, when};

/// Shows what an approver needs to know: what would run, why the policy asks, for whom, until when.
pub(crate) fn request(call: &CallRecord, now: Timestamp) -> String {
    let mut page = Page::default();
    let mut state = format!("{} since {}", call.state, when::both(call.updated, now));
    if let Some(ask) = call.ask.as_ref().filter(|_| call.state == State::Pending) {
        state = format!("{state}, deadline {}", when::away(ask.deadline, now));
    }
    page.line("state", &state);
    if let Some(request) = ApprovalRequest::of(call) {
        return format!("{}{request}", page.0);
    }
    page.line("tool", &call.tool);
    page.line("danger", call.danger.as_str());
    let user = call.requester.user.as_ref().map(|user| format!(", for {user}"));
    page.line("asked by", &format!("{}{}", call.requester.agent, user.unwrap_or_default()));
    page.line("run", &call.place.run);
    page.line("call", &format!("{}, generation {}", call.id, call.generation));
    page.line("digest", &call.digest);
    page.block("arguments", &json::in_lines(&call.shown));
    for change in &call.repairs {
        page.line("repaired", &change.to_string());
    }
    page.0
}

/// Describes the state and the outcome of a call.
pub(crate) fn standing(call: &CallRecord, now: Timestamp) -> String {
    let mut page = Page::default();
    page.line("made", &when::both(call.created, now));
    let turn = call.place.turn.map_or_else(|| "no turn".to_owned(), |turn| format!("turn {turn}"));
    page.line("place", &format!("{turn}, call {}", call.place.index));
    if let Some(parent) = call.parent {
        page.line("made by", &format!("call {} of {}", parent.index, parent.call));
    }
    if !call.awaits.is_empty() {
        let awaited: Vec<String> = call.awaits.iter().map(ToString::to_string).collect();
        page.line("waits for", &awaited.join(", "));
    }
    if let Some(until) = call.handed_over_until {
        page.line(
            "handed over",
            &format!("a result may be supplied until {}", when::both(until, now)),
        );
    }
    page.line("attempt", &call.attempt.to_string());
    page.line("effect", effect(call.effect));
    if let Some(owner) = &call.owner {
        let lease =
            call.lease.map_or_else(String::new, |it| format!(" until {}", when::both(it, now)));
        page.line("run by", &format!("{owner}{lease}"));
    }
    if let Some(time) = call.not_before {
        page.line("not before", &when::both(time, now));
    }
    if let Some(statement) = call.decision.as_ref().and_then(|signed| signed.statement().ok()) {
        let at = when::both(statement.at, now);
        page.line("decision", &format!("{} by {}, {at}", statement.verdict, statement.by));
        if let Some(note) = &statement.note {
            page.line("advice", note);
        }
    }
    if let Some(grant) = &call.grant {
        page.line("grant", grant);
    }
    if call.proposal.is_some() {
        page.line("proposal", "new arguments wait for the application to judge them");
    }
    page.line("key", &call.idempotency_key);
    if let Some(trace) = &call.trace {
        page.line("trace", trace);
    }
    match (&call.raw, has_secrets(call)) {
        (StoredText::Plain(raw), false) if *raw != call.shown => {
            page.block("what the model sent", raw)
        }
        _ => {}
    }
    for failed in &call.failures {
        page.attempt(failed, has_secrets(call));
    }
    page.answer("answer", call.answer.as_ref(), call);
    page.answer("result", call.result.as_ref(), call);
    page.0
}

/// Lists the entries of a call's history.
pub(crate) fn history(entries: &[Entry]) -> String {
    let mut page = Page::default();
    let lines: Vec<String> = entries.iter().map(EntryRow::words).collect();
    page.block("history", &lines.join("\n"));
    page.0
}

/// Shows a call of a plan: what the call would do, and why.
pub(crate) fn plan_page(call: &CallRecord, number: usize, of: usize) -> String {
    let mut page = Page::default();
    page.line("planned", &format!("{number} of {of}"));
    page.line("call", &format!("{}, generation {}", call.id, call.generation));
    page.line("run", &call.place.run);
    page.line("tool", &call.tool);
    page.line("danger", call.danger.as_str());
    if let Some(ask) = &call.ask {
        page.line("why", &ask.reason);
    }
    page.line("digest", &call.digest);
    page.block("arguments", &json::in_lines(&call.shown));
    if let Some(preview) = call.ask.as_ref().and_then(|ask| ask.preview.as_ref()) {
        page.block("preview", preview);
    }
    page.0
}

/// Writes the end of a plan's page: the number of calls and the digest.
pub(crate) fn plan(calls: usize, digest: &str) -> String {
    let mut page = Page::default();
    page.line("plan", &format!("{calls} in all, digest {digest}"));
    format!("\n{}", page.0)
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn line(&mut self, name: &str, text: &str) {
        let _ = writeln!(self.0, "{name:<10}   {}", printable::line(text));
    }

    fn attempt(&mut self, failed: &FailedAttempt, has_secrets: bool) {
        let FailedAttempt { attempt, at, failure, kind, message, cause } = failed;
        let what = format!("attempt {attempt} at {} with {kind}: {failure}", when::absolute(*at));
        self.line("failed", &what);
        for text in [message, cause].into_iter().flatten().filter(|_| !has_secrets) {
            let _ = write!(self.0, "{}", printable::block(text));
        }
    }

    fn answer(&mut self, name: &str, answered: Option<&AnswerRecord>, call: &CallRecord) {
        let Some(answered) = answered else { return };
        let heading =
            if answered.is_error { format!("{name} (an error)") } else { name.to_owned() };
        let text = match has_secrets(call) {
            true if call.shown == CallRecord::FORGOTTEN => {
                "(not shown, since it may repeat what the call was made with, which is forgotten)"
            }
            true => "(not shown, since it may repeat a secret of the call)",
            false => &answered.text,
        };
        self.block(&heading, text);
    }

    fn block(&mut self, name: &str, text: &str) {
        let _ = write!(self.0, "{name}\n{}", printable::block(text));
    }
}

fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "changes nothing",
        Effect::Idempotent => "may be repeated",
        Effect::Keyed => "may be repeated with the same key",
        Effect::Once => "must not be repeated",
    }
}
