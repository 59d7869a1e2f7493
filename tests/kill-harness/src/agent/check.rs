//! Compares the recorded histories with what happened outside, and with the requests to the model.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use toolwright::Answer;
use toolwright::journal::{Filter, Page, Store};
use toolwright::provider::ToolCall;
use toolwright_agent::durable::{Phase, Runs};
use toolwright_agent::{Message, check as sound};

use super::course::Course;
use super::life::id;
use super::model::{Asked, asked};
use super::requests::Bound;
use crate::marks::{self, What};
use crate::person::Arguments;
use crate::script::Said;

/// A violation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Something happened twice, or with two keys, or for an answer of the model that is not in the history.
    Duplicate(String),
    /// An answer says that something happened, but it did not.
    Lost(String),
    /// A run has not ended, or a call has no answer.
    Unanswered(String),
    /// A history contradicts itself, or the model was asked too often or too rarely.
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

/// How the folder was produced.
#[derive(Debug, Clone, Copy)]
pub struct Played {
    /// The seed of the model's answers.
    pub seed: u64,
    /// How many runs there are.
    pub runs: u64,
    /// How many processes were killed.
    pub kills: u64,
    /// Whether each process ended before the next began.
    pub is_alone: bool,
}

/// Returns the violations in a folder whose runs have settled, and how many calls were checked.
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
    let mut known = Known::read(folder, &*store).await?;
    let runs = Runs::of(store);
    for run in 0..played.runs {
        let course = Course::of(seed, run);
        let head = match runs.head(&id(run)).await {
            Ok(head) => head,
            Err(error) => {
                findings.push(Finding::Unanswered(error.to_string()));
                continue;
            }
        };
        let by = head.cancelled.as_ref().map(|it| &*it.who);
        let is_cancelled = matches!(course, Course::Cancelled { .. });
        let expected = (Some(course.end()), is_cancelled.then_some("ada"));
        if head.phase != Phase::Ended || (head.ended.as_deref(), by) != expected {
            let (phase, end) = (head.phase, &head.ended);
            let words =
                format!("run {run} is {phase:?}, ended {end:?} by {by:?}, not {expected:?}");
            findings.push(Finding::Unanswered(words));
            continue;
        }
        let mut history = Vec::new();
        for turn in 1..=head.turn {
            let turn = runs.turn(&head.run, turn).await?;
            history.extend(turn.said);
            history.extend(turn.answer);
            history.extend(turn.answers);
        }
        let (fewest, most) = course.turns();
        match sound(&history) {
            Ok([]) if (fewest..=most).contains(&head.turn) => {}
            ended => {
                let turn = head.turn;
                let words = format!("run {run} has {turn} turns of {fewest} to {most}: {ended:?}");
                findings.push(Finding::Unsound(words));
            }
        }
        for answered in history.iter().filter_map(|message| match message {
            Message::ToolResults(answered) => Some(answered),
            _ => None,
        }) {
            for (call, answer) in answered.iter() {
                calls += 1;
                findings.extend(known.differ_from(call, answer, course));
            }
        }
        let of_run: Vec<&Asked> = requests.iter().filter(|it| it.run == run).collect();
        let is_cut_off = course.is_stopped();
        let bound = Bound { turns: head.turn, is_cut_off, kills, is_alone };
        if let Some(why) = bound.broken_by(&of_run) {
            findings.push(Finding::Unsound(format!("run {run}: {why}")));
        }
    }
    findings.extend(known.rest());
    Ok((findings, calls))
}

/// What the marks and the journal say of calls, apart from the histories of their runs.
struct Known {
    /// The keys with which each call acted.
    acted: HashMap<String, Vec<String>>,
    /// The calls that were begun.
    begun: HashSet<String>,
    /// The calls that are not acknowledged, each described in words.
    unacknowledged: HashMap<String, String>,
}

impl Known {
    async fn read(folder: &Path, store: &dyn Store) -> anyhow::Result<Self> {
        let (mut acted, mut begun) = (HashMap::<_, Vec<_>>::new(), HashSet::new());
        for mark in marks::read(folder)? {
            match mark.what {
                What::Acted(it) => acted.entry(it.token).or_default().push(it.key),
                What::Begun(it) => _ = begun.insert(it.token),
                _ => {}
            }
        }
        let mut unacknowledged = HashMap::new();
        let filter = Filter { delivered: Some(false), ..Filter::default() };
        for call in store.list(&filter, Page::first(100)).await?.calls {
            let (run, tool, state) = (&call.place.run, &call.tool, call.state);
            let words = format!("`{tool}` of {run} is {state}, and not acknowledged");
            let token =
                Arguments::of(&call.shown).map_or_else(|| call.id.to_string(), |it| it.token);
            unacknowledged.insert(token, words);
        }
        Ok(Self { acted, begun, unacknowledged })
    }

    /// Returns what contradicts the recorded answer of a call.
    fn differ_from(&mut self, call: &ToolCall, answer: &Answer, course: Course) -> Vec<Finding> {
        let mut findings = Vec::new();
        let token = call.id.clone().unwrap_or_default();
        let (name, text) = (&call.name, answer.text());
        let has_begun = self.begun.remove(&token);
        let keys = self.acted.remove(&token).unwrap_or_default();
        let is_unknown = answer.error().is_some_and(|error| error.kind() == "indeterminate");
        if course.is_stopped() && is_unknown {
            // The run ended before the result was known, so it never acknowledged it.
            self.unacknowledged.remove(&token);
        }
        let is_undecided = Arguments::of(&call.arguments).is_some_and(|it| it.said == Said::Ignore);
        if is_undecided && (has_begun || !answer.is_error()) {
            findings.push(Finding::Unsound(format!("`{name}` {token} ran undecided: {text}")));
        }
        if !answer.is_error() && text.starts_with("done") && keys.is_empty() {
            findings.push(Finding::Lost(format!("`{name}` {token}: {text}")));
        }
        let is_once = matches!(&**name, "pay" | "pay_asked" | "ship");
        let different = keys.iter().collect::<HashSet<_>>().len();
        if (is_once && keys.len() > 1) || (name.starts_with("send") && different > 1) {
            let words = format!("`{name}` {token}: {} times, {different} keys", keys.len());
            findings.push(Finding::Duplicate(words));
        }
        findings
    }

    /// The remaining calls are in no history: the model was asked again after its calls had begun.
    fn rest(self) -> impl Iterator<Item = Finding> {
        let unacknowledged = self.unacknowledged.into_values().map(Finding::Unanswered);
        unacknowledged.chain(self.begun.into_iter().map(|token| {
            Finding::Duplicate(format!("{token} ran for an answer that is not recorded"))
        }))
    }
}
