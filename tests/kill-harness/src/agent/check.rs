//! Compares the recorded histories with what the tools did outside, and with the requests to the model.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use toolwright::Answer;
use toolwright::journal::{CallRecord, Filter, Page, State, Store};
use toolwright::provider::ToolCall;
use toolwright_agent::durable::{Head, Phase, Runs};
use toolwright_agent::{Message, check as sound};

use super::course::Course;
use super::life::{id, id_again};
use super::model::{Asked, asked};
use super::requests::Bound;
use super::user::{BACK_TO, Said, said};
use crate::marks::{self, What};
use crate::person::Arguments;
use crate::script::Said as Decision;

/// A violation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// A call acted twice or with two keys, or it ran for an answer of the model that is not in the history.
    Duplicate(String),
    /// An answer says that a call acted, but it did not; or a message of the user is not in the history.
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

/// The parameters of what was played in a folder.
#[derive(Debug, Clone, Copy)]
pub struct Played {
    /// The seed, which decides the answers of the model.
    pub seed: u64,
    /// How many runs there are.
    pub runs: u64,
    /// How many processes were killed.
    pub kills: u64,
    /// Whether each process ended before the next began.
    pub is_alone: bool,
}

/// Checks a folder whose runs have all ended. Returns the violations, and how many calls were checked.
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
    let told = said(folder)?;
    let runs = Runs::of(Arc::clone(&store));
    for run in 0..played.runs {
        let course = Course::of(seed, run);
        let Some((head, history)) = ended(&runs, &id(run), course, &mut findings).await? else {
            continue;
        };
        findings.extend(messages_lost(run, &told, &history));
        for (call, answer) in calls_of(&history) {
            calls += 1;
            let made = MadeCall::new(call, answer);
            findings.extend(known.differ_from(&made, course));
        }
        let mut asked_for = vec![(head.run.clone(), 1, head.turn, course.is_stopped())];
        if let Course::Rewound { .. } = course
            && let Some((again, rest)) = ended(&runs, &id_again(run), course, &mut findings).await?
        {
            // The turns that the new run has from the old one were checked with the old run.
            let before = of_turns(&runs, &head.run, 1..=BACK_TO).await?;
            // The copied answers have a note that names the old run, so only the calls are compared.
            let begin = rest.get(..before.len()).unwrap_or_default();
            let tokens = |of: &[Message]| -> Vec<Option<String>> {
                calls_of(of).map(|(call, _)| call.id.clone()).collect()
            };
            if tokens(begin) != tokens(&before) {
                let words = format!("{} begins with other turns than {}", again.run, head.run);
                findings.push(Finding::Unsound(words));
            }
            for (call, answer) in calls_of(rest.get(before.len()..).unwrap_or_default()) {
                calls += 1;
                findings.extend(known.differ_from(&MadeCall::new(call, answer), course));
            }
            asked_for.push((again.run.clone(), BACK_TO + 1, again.turn, false));
        }
        for parent in [id(run), id_again(run)] {
            known.forget(sub_agent_calls(&*store, &parent).await?);
            for agent in runs.sub_agents(&parent).await? {
                let record = store.get(agent.call).await?;
                let Some(task) = record.and_then(|it| task_of(&it.shown)) else {
                    let words = format!("a sub-agent of {parent} has no call with its task");
                    findings.push(Finding::Lost(words));
                    continue;
                };
                let is_cut_off = course.is_stopped() || !agent.has_ended;
                asked_for.push((task, 1, u64::from(agent.turns), is_cut_off));
            }
        }
        for (asked, first, turns, is_cut_off) in asked_for {
            let of_run: Vec<&Asked> = requests.iter().filter(|it| it.run == asked).collect();
            let bound = Bound { first, turns, is_cut_off, kills, is_alone };
            if let Some(why) = bound.broken_by(&of_run) {
                findings.push(Finding::Unsound(format!("{asked} of run {run}: {why}")));
            }
        }
    }
    for (made, run) in nested_calls(&*store).await? {
        calls += 1;
        let number =
            run.trim_end_matches("-again").rsplit('-').next().and_then(|it| it.parse().ok());
        let course = Course::of(seed, number.unwrap_or_default());
        findings.extend(known.differ_from(&made, course));
    }
    findings.extend(known.rest());
    Ok((findings, calls))
}

/// Returns the head and the history of a run, if it has ended as its course says; otherwise adds a violation.
async fn ended(
    runs: &Runs,
    run: &str,
    course: Course,
    findings: &mut Vec<Finding>,
) -> anyhow::Result<Option<(Head, Vec<Message>)>> {
    let head = match runs.head(run).await {
        Ok(head) => head,
        Err(error) => {
            findings.push(Finding::Unanswered(error.to_string()));
            return Ok(None);
        }
    };
    let by = head.cancelled.as_ref().map(|it| &*it.who);
    let is_cancelled = matches!(course, Course::Cancelled { .. });
    let expected = (Some(course.end()), is_cancelled.then_some("ada"));
    if head.phase != Phase::Ended || (head.ended.as_deref(), by) != expected {
        let (phase, end) = (head.phase, &head.ended);
        let words = format!("{run} is {phase:?}, ended {end:?} by {by:?}, not {expected:?}");
        findings.push(Finding::Unanswered(words));
        return Ok(None);
    }
    let history = of_turns(runs, run, 1..=head.turn).await?;
    let (fewest, most) = course.turns();
    match sound(&history) {
        Ok([]) if (fewest..=most).contains(&head.turn) => {}
        ended => {
            let turn = head.turn;
            let words = format!("{run} has {turn} turns of {fewest} to {most}: {ended:?}");
            findings.push(Finding::Unsound(words));
        }
    }
    Ok(Some((head, history)))
}

/// Reads the messages of these turns of a run.
async fn of_turns(
    runs: &Runs,
    run: &str,
    turns: RangeInclusive<u64>,
) -> anyhow::Result<Vec<Message>> {
    let mut history = Vec::new();
    for turn in turns {
        let turn = runs.turn(run, turn).await?;
        history.extend(turn.said);
        history.extend(turn.answer);
        history.extend(turn.answers);
    }
    Ok(history)
}

fn calls_of(history: &[Message]) -> impl Iterator<Item = &(ToolCall, Answer)> {
    history.iter().flat_map(|message| match message {
        Message::ToolResults(answered) => &answered[..],
        _ => &[],
    })
}

/// Checks that the messages which the user sent to a run while it worked are in its history. A message that the runner
/// has accepted has to be there once. A message whose process was killed before the runner accepted it may be missing.
fn messages_lost(run: u64, told: &[Said], history: &[Message]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let of_run = told.iter().filter(|it| it.run == run);
    for said in of_run.clone().filter(|it| !it.is_taken) {
        let is_it = |it: &&Message| matches!(it, Message::User { text, .. } if *text == said.text);
        let times = history.iter().filter(is_it).count();
        let is_taken = of_run.clone().any(|it| it.is_taken && it.text == said.text);
        match times {
            0 if is_taken => findings.push(Finding::Lost(format!("run {run}: `{}`", said.text))),
            0 | 1 => {}
            _ => findings.push(Finding::Duplicate(format!("run {run}: `{}`", said.text))),
        }
    }
    findings
}

/// Returns the task that the arguments of a call give to a sub-agent.
fn task_of(arguments: &str) -> Option<String> {
    let arguments: serde_json::Value = serde_json::from_str(arguments).ok()?;
    Some(arguments["task"].as_str()?.to_owned())
}

/// Returns the ids of the calls in the recorded answers of the models of a run's sub-agents.
async fn sub_agent_calls(store: &dyn Store, run: &str) -> anyhow::Result<Vec<String>> {
    let mut ids = Vec::new();
    for document in store.documents(&format!("run/{run}/agents/")).await? {
        let answer: serde_json::Value = serde_json::from_str(&document.text)?;
        let calls = answer.pointer("/body/plain/message/calls").and_then(|it| it.as_array());
        ids.extend(
            calls.into_iter().flatten().filter_map(|it| Some(it["id"].as_str()?.to_owned())),
        );
    }
    Ok(ids)
}

/// Returns the calls that sub-agents have made, each with the run that it belongs to.
async fn nested_calls(store: &dyn Store) -> anyhow::Result<Vec<(MadeCall, String)>> {
    let (mut nested, mut page) = (Vec::new(), Page::first(100));
    loop {
        let found = store.list(&Filter::default(), page).await?;
        // A call that was cancelled, because another call has its place now, has no answer.
        let is_made = |it: &CallRecord| it.parent.is_some() && it.state != State::Cancelled;
        for call in found.calls.into_iter().filter(is_made) {
            let Some(arguments) = Arguments::of(&call.shown) else { continue };
            let made = MadeCall {
                token: arguments.token.clone(),
                name: call.tool.clone(),
                is_undecided: arguments.said == Decision::Ignore,
                text: call.answer.as_ref().map_or_else(String::new, |it| it.text.clone()),
                is_error: call.answer.as_ref().is_none_or(|it| it.is_error),
                is_unknown: call.state == State::Indeterminate,
            };
            nested.push((made, call.place.run.clone()));
        }
        match found.next {
            Some(next) => page = page.after(next),
            None => return Ok(nested),
        }
    }
}

/// A call and its answer.
struct MadeCall {
    token: String,
    name: String,
    /// Whether the person never decides on the call.
    is_undecided: bool,
    text: String,
    is_error: bool,
    /// Whether the outcome of the call is indeterminate.
    is_unknown: bool,
}

impl MadeCall {
    fn new(call: &ToolCall, answer: &Answer) -> Self {
        let said = Arguments::of(&call.arguments).map(|it| it.said);
        Self {
            token: call.id.clone().unwrap_or_default(),
            name: call.name.clone(),
            is_undecided: said == Some(Decision::Ignore),
            text: answer.text().into_owned(),
            is_error: answer.is_error(),
            is_unknown: answer.error().is_some_and(|error| error.kind() == "indeterminate"),
        }
    }
}

/// What the marks and the journal say about calls. The histories of the runs are compared with it.
struct Known {
    /// The idempotency keys with which each call acted, by the call's token.
    acted: HashMap<String, Vec<String>>,
    /// The tokens of the calls that a tool began.
    begun: HashSet<String>,
    /// The calls that are not acknowledged in the journal: for each token, a description for the report.
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
        let listed = store.list(&filter, Page::first(100)).await?.calls;
        // The answer of a call that another call made goes to that call, and is not acknowledged.
        for call in listed.into_iter().filter(|it| it.parent.is_none()) {
            let (run, tool, state) = (&call.place.run, &call.tool, call.state);
            let words = format!("`{tool}` of {run} is {state}, and not acknowledged");
            let token =
                Arguments::of(&call.shown).map_or_else(|| call.id.to_string(), |it| it.token);
            unacknowledged.insert(token, words);
        }
        Ok(Self { acted, begun, unacknowledged })
    }

    /// Forgets that these calls have begun. They are in recorded answers of sub-agents' models, and no history has the
    /// reads among them.
    fn forget(&mut self, tokens: Vec<String>) {
        for token in tokens {
            self.begun.remove(&token);
        }
    }

    /// Compares the recorded answer of a call with what its tool did, and returns the contradictions.
    fn differ_from(&mut self, made: &MadeCall, course: Course) -> Vec<Finding> {
        let mut findings = Vec::new();
        let MadeCall { token, name, text, is_error, .. } = made;
        let has_begun = self.begun.remove(token);
        let keys = self.acted.remove(token).unwrap_or_default();
        if course.is_stopped() && made.is_unknown {
            // The run ended before the outcome of the call was known, so it never acknowledged the result.
            self.unacknowledged.remove(token);
        }
        if made.is_undecided && (has_begun || !is_error) {
            findings.push(Finding::Unsound(format!("`{name}` {token} ran undecided: {text}")));
        }
        let has_effect = name != "spawn_agent";
        if has_effect && !is_error && text.starts_with("done") && keys.is_empty() {
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

    /// Returns a violation for each call that is left: no history has it. It is of an answer that was not recorded,
    /// after which the model was asked again.
    fn rest(self) -> impl Iterator<Item = Finding> {
        let unacknowledged = self.unacknowledged.into_values().map(Finding::Unanswered);
        unacknowledged.chain(self.begun.into_iter().map(|token| {
            Finding::Duplicate(format!("{token} ran for an answer that is not recorded"))
        }))
    }
}
