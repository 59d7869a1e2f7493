//! Compares marks, journal and answers with the promises. Pure.
//!
//! Each rule checks one call: what was intended, what happened outside, and what the journal says.

mod answers;
mod attempts;
mod children;
mod external;
mod pipes;
mod promises;
mod states;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use toolwright::journal::{CallRecord, Entry, State, Transition};
use toolwright::{CallId, Effect};

use crate::evidence::Evidence;
use crate::marks::{Attempt, Mark, Offer, Refusal, What};
use crate::meddle::Damage;
use crate::script::{Intended, Run};
use crate::texts::Stored;
use crate::watched::Told;

/// The kind of a violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A `once` call was begun again, though neither a person nor its tool had reported that it did not happen.
    Duplicate,
    /// A call has not ended, and it does not wait for anything either.
    Lost,
    /// A call is neither answered nor parked.
    Unanswered,
    /// Anything else that the crash table does not allow.
    Unexpected,
}

/// A violation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The kind of the violation.
    pub kind: Kind,
    /// The token of the call, by which the outside world knows it.
    pub token: String,
    /// A description.
    pub why: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, token, why } = self;
        write!(formatter, "{kind:?} {token}: {why}")
    }
}

/// The result of a check.
#[derive(Debug, Default)]
pub struct Checked {
    /// How many calls were checked.
    pub calls: usize,
    /// How many of them are parked as indeterminate.
    pub indeterminate: usize,
    /// How many calls were unreadable for a while.
    pub damaged: usize,
    /// How often the journal had a foreign trigger for a while.
    pub triggers: usize,
    /// The violations.
    pub findings: Vec<Finding>,
}

/// A call, and everything known about it.
struct Case<'a> {
    intended: &'a Intended,
    run_is_ended: bool,
    is_kept: bool,
    /// The call whose tool made this one.
    parent: Option<&'a CallRecord>,
    /// The call that the tool of this one made.
    child: Option<&'a CallRecord>,
    /// Whether the times of marks and journal can be compared.
    has_times: bool,
    record: Option<&'a CallRecord>,
    history: &'a [Entry],
    begun: Vec<(&'a Mark, &'a Attempt)>,
    acted: Vec<(&'a Mark, &'a Attempt)>,
    noted: Vec<(&'a str, bool)>,
    supplied: Supplied<'a>,
    texts: &'a [Stored],
    told: Vec<&'a Told>,
}

/// The results that were supplied for a call.
#[derive(Debug, Clone, Default)]
struct Supplied<'a> {
    offered: Vec<(&'a Mark, &'a Offer)>,
    accepted: Vec<&'a str>,
    refused: Vec<(&'a str, &'a Refusal)>,
}

/// The longest description of a violation, in bytes: answers may be long.
const LONGEST: usize = 400;

/// The violations that the rules find in one call.
struct Findings<'a> {
    token: &'a str,
    all: &'a mut Vec<Finding>,
}

impl Findings<'_> {
    fn add(&mut self, kind: Kind, why: impl Into<String>) {
        let mut why = why.into();
        why.truncate(why.floor_char_boundary(LONGEST));
        self.all.push(Finding { kind, token: self.token.to_owned(), why });
    }

    fn unless(&mut self, holds: bool, why: impl Into<String>) {
        if !holds {
            self.add(Kind::Unexpected, why);
        }
    }
}

impl Case<'_> {
    fn is_once(&self) -> bool {
        self.intended.effect() == Effect::Once
    }

    fn events(&self) -> impl Iterator<Item = (&Entry, Transition)> {
        self.history.iter().filter_map(|entry| Some((entry, entry.event?)))
    }

    fn has(&self, wanted: impl Fn(Transition) -> bool) -> bool {
        self.events().any(|(_, event)| wanted(event))
    }
}

/// Checks every call that was ever intended.
#[must_use]
pub fn check(evidence: &Evidence) -> Checked {
    check_beside(evidence, &[])
}

/// Checks every call that was ever intended, except the damaged ones.
#[must_use]
pub fn check_beside(evidence: &Evidence, damaged: &[Damage]) -> Checked {
    let mut checked = Checked::default();
    let outside = Outside::of(&evidence.marks);
    let known = Known::of(evidence);
    let mut told = promises::by_call(&evidence.told);
    let mut seen = BTreeSet::new();
    for number in &outside.runs {
        let run = Run::of(evidence.seed, *number);
        for (index, intended) in (0_u32..).zip(&run.calls) {
            if damaged.iter().any(|it| (it.run.as_str(), it.index) == (&*run.id(), index)) {
                continue;
            }
            let call = known.calls.get(&(run.id(), index)).copied();
            let child = call.and_then(|(record, _)| known.children.get(&record.id)).copied();
            let parent = call.map(|(record, _)| record);
            let both = [
                Some((intended, call, None, child)),
                intended.child.as_deref().map(|it| (it, child, parent, None)),
            ];
            for (intended, found, parent, child) in both.into_iter().flatten() {
                let record = found.map(|(record, _)| record);
                seen.extend(record.map(|record| record.id));
                let token = intended.token.as_str();
                let case = Case {
                    intended,
                    run_is_ended: run.is_ended,
                    is_kept: intended.effect() != Effect::Read
                        || intended.asks()
                        || evidence.keeps_reads,
                    parent,
                    child: child.map(|(record, _)| record),
                    has_times: !evidence.clock_jumps,
                    record,
                    history: found.map_or(&[], |(_, history)| history),
                    begun: outside.begun.get(token).cloned().unwrap_or_default(),
                    acted: outside.acted.get(token).cloned().unwrap_or_default(),
                    noted: outside.noted.get(token).cloned().unwrap_or_default(),
                    supplied: outside.supplied.get(token).cloned().unwrap_or_default(),
                    texts: &evidence.texts,
                    told: record.and_then(|it| told.remove(&it.id)).unwrap_or_default(),
                };
                checked.calls += 1;
                let is_parked = record.is_some_and(|it| it.state == State::Indeterminate);
                checked.indeterminate += usize::from(is_parked);
                let mut findings = Findings { token, all: &mut checked.findings };
                states::check(&case, &mut findings);
                attempts::check(&case, &mut findings);
                external::check(&case, &mut findings);
                pipes::check(&case, &mut findings);
                if intended.is_child() {
                    children::check(&case, &mut findings);
                } else {
                    answers::check(&case, &mut findings);
                }
                promises::check(&case, &mut findings);
            }
        }
    }
    let is_damaged = |call: &CallId| damaged.iter().any(|it| it.call == *call);
    for call in told.into_keys().filter(|call| !is_damaged(call)) {
        let mut findings = Findings { token: "-", all: &mut checked.findings };
        findings.add(
            Kind::Lost,
            format!("the store reported call {call}, but the journal does not have it"),
        );
    }
    for (id, (record, _)) in &evidence.calls {
        let mut findings = Findings { token: "-", all: &mut checked.findings };
        let why = format!("call {id} of {} was never intended", record.place.run);
        findings.unless(seen.contains(id), why);
    }
    for stored in &evidence.texts {
        let writers = evidence.calls.values().map(|(record, _)| record);
        let is_of_call = writers.into_iter().any(|record| pipes::has_written(record, stored));
        let mut findings = Findings { token: "-", all: &mut checked.findings };
        let Stored { path, version, note, .. } = stored;
        let why = format!("version {version} of `{path}` is of no call: {note}");
        findings.unless(is_of_call, why);
    }
    let reported: BTreeSet<_> = evidence.damaged.iter().copied().collect();
    let expected: BTreeSet<_> = damaged.iter().map(|it| it.call).collect();
    if reported != expected {
        let mut findings = Findings { token: "-", all: &mut checked.findings };
        let why = format!("{reported:?} are listed as damaged, and {expected:?} are");
        findings.add(Kind::Unexpected, why);
    }
    checked
}

/// The calls of the journal, by their slots.
struct Known<'a> {
    calls: HashMap<(String, u32), (&'a CallRecord, &'a [Entry])>,
    /// The first call that a tool made, by the tool's own call.
    children: HashMap<CallId, (&'a CallRecord, &'a [Entry])>,
}

impl<'a> Known<'a> {
    fn of(evidence: &'a Evidence) -> Self {
        let mut known = Self { calls: HashMap::new(), children: HashMap::new() };
        for (record, history) in evidence.calls.values() {
            let found = (record, history.as_slice());
            match record.parent {
                // No tool makes a second call, so it counts as a call that was not intended.
                Some(parent) if parent.index == 0 => {
                    known.children.insert(parent.call, found);
                }
                Some(_) => {}
                None => {
                    known.calls.insert((record.place.run.clone(), record.place.index), found);
                }
            }
        }
        known
    }
}

/// The marks, by call.
#[derive(Default)]
struct Outside<'a> {
    runs: BTreeSet<u64>,
    begun: BTreeMap<&'a str, Vec<(&'a Mark, &'a Attempt)>>,
    acted: BTreeMap<&'a str, Vec<(&'a Mark, &'a Attempt)>>,
    noted: BTreeMap<&'a str, Vec<(&'a str, bool)>>,
    supplied: BTreeMap<&'a str, Supplied<'a>>,
}

impl<'a> Outside<'a> {
    fn of(marks: &'a [Mark]) -> Self {
        let mut outside = Self::default();
        for mark in marks {
            match &mark.what {
                What::Intended { run } => {
                    outside.runs.insert(*run);
                }
                What::Begun(it) => outside.begun.entry(&it.token).or_default().push((mark, it)),
                What::Acted(it) => outside.acted.entry(&it.token).or_default().push((mark, it)),
                What::Noted { token, text, is_error } => {
                    outside.noted.entry(token).or_default().push((text, *is_error));
                }
                What::Offered(it) => {
                    let supplied = outside.supplied.entry(&it.attempt.token).or_default();
                    supplied.offered.push((mark, it));
                }
                What::Accepted { token, text } => {
                    outside.supplied.entry(token).or_default().accepted.push(text);
                }
                What::Refused { token, text, refusal } => {
                    let supplied = outside.supplied.entry(token).or_default();
                    supplied.refused.push((text, refusal));
                }
                What::Started | What::Left { .. } => {}
            }
        }
        outside
    }
}
