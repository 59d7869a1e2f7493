//! Compares the recorded histories with what happened outside, and with what the model was asked.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use toolwright::journal::{Filter, Page, Store};
use toolwright_agent::durable::{Phase, Runs};
use toolwright_agent::{Message, check as sound};

use super::life::id;
use super::model::{Asked, asked, turns};
use super::requests::Bound;
use crate::marks::{self, What};

/// Something that must not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Something happened twice, or under two keys, or for an answer of the model that is not in the history.
    Duplicate(String),
    /// An answer says that something happened that did not.
    Lost(String),
    /// A run has not ended, or a call has no answer.
    Unanswered(String),
    /// A history is not sound, or the model was asked too often or too rarely.
    Unsound(String),
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate(words) => write!(formatter, "duplicate: {words}"),
            Self::Lost(words) => write!(formatter, "lost: {words}"),
            Self::Unanswered(words) => write!(formatter, "unanswered: {words}"),
            Self::Unsound(words) => write!(formatter, "unsound: {words}"),
        }
    }
}

/// What was played in a folder.
#[derive(Debug, Clone, Copy)]
pub struct Played {
    /// What the model says.
    pub seed: u64,
    /// How many runs there are.
    pub runs: u64,
    /// How many processes were killed.
    pub kills: u64,
    /// Whether each process ended before the next began.
    pub is_alone: bool,
}

/// What was found in a folder whose runs were settled, and how many calls were looked at.
///
/// # Errors
/// When journal or marks cannot be read.
pub async fn check(
    folder: &Path,
    store: Arc<dyn Store>,
    played: Played,
) -> anyhow::Result<(Vec<Finding>, u64)> {
    let (mut findings, mut calls) = (Vec::new(), 0);
    let Played { seed, kills, is_alone, .. } = played;
    let requests = asked(folder)?;
    let mut acted: HashMap<String, Vec<String>> = HashMap::new();
    let mut begun = HashSet::new();
    for mark in marks::read(folder)? {
        match mark.what {
            What::Acted(it) => acted.entry(it.token).or_default().push(it.key),
            What::Begun(it) => {
                begun.insert(it.token);
            }
            _ => {}
        }
    }
    let undelivered = Filter { delivered: Some(false), ..Filter::default() };
    for call in store.list(&undelivered, Page::first(100)).await? {
        let (run, tool, state) = (&call.place.run, &call.tool, call.state);
        let words = format!("`{tool}` of {run} is {state}, and not acknowledged");
        findings.push(Finding::Unanswered(words));
    }
    let runs = Runs::of(store);
    for run in 0..played.runs {
        let expected = turns(seed, run);
        let head = match runs.head(&id(run)).await {
            Ok(head) => head,
            Err(error) => {
                findings.push(Finding::Unanswered(error.to_string()));
                continue;
            }
        };
        if head.phase != Phase::Ended || head.ended.as_deref() != Some("text") {
            let (phase, ended) = (head.phase, head.ended);
            findings.push(Finding::Unanswered(format!("run {run} is {phase:?}, ended {ended:?}")));
            continue;
        }
        let mut history = Vec::new();
        for turn in 1..=head.turn {
            let turn = runs.turn(&head.run, turn).await?;
            history.extend(turn.said);
            history.extend(turn.answer);
            history.extend(turn.answers);
        }
        match sound(&history) {
            Ok([]) if head.turn == expected => {}
            ended => {
                let turn = head.turn;
                let words = format!("run {run} has {turn} of {expected} turns: {ended:?}");
                findings.push(Finding::Unsound(words));
            }
        }
        for answered in history.iter().filter_map(|message| match message {
            Message::Answers(answered) => Some(answered),
            _ => None,
        }) {
            for (call, answer) in answered.iter() {
                calls += 1;
                let token = call.id.clone().unwrap_or_default();
                begun.remove(&token);
                let keys = acted.remove(&token).unwrap_or_default();
                let text = answer.text();
                if !answer.is_error() && text.starts_with("done") && keys.is_empty() {
                    findings.push(Finding::Lost(format!("`{}` {token}: {text}", call.name)));
                }
                let is_once = matches!(&*call.name, "pay" | "pay_asked" | "ship");
                let different = keys.iter().collect::<HashSet<_>>().len();
                if (is_once && keys.len() > 1) || (call.name.starts_with("send") && different > 1) {
                    let times = keys.len();
                    let words = format!("`{}` {token}: {times} times, {different} keys", call.name);
                    findings.push(Finding::Duplicate(words));
                }
            }
        }
        let of_run: Vec<&Asked> = requests.iter().filter(|it| it.run == run).collect();
        let bound = Bound { turns: expected, kills, is_alone };
        if let Some(why) = bound.broken_by(&of_run) {
            findings.push(Finding::Unsound(format!("run {run}: {why}")));
        }
    }
    // What is left is in no history: the model was asked again after its calls had begun.
    for token in begun {
        findings
            .push(Finding::Duplicate(format!("{token} ran for an answer that is not recorded")));
    }
    Ok((findings, calls))
}
