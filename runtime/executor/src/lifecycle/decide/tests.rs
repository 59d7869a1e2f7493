//! Every input, at a call in every state: a decision is made, reads come to an end, and what is committed follows from the
//! call's history.

use std::time::Duration;

use crate::call::By;
use jiff::Timestamp;
use toolwright_core::context::CallId;
use toolwright_core::error::{Done, ErrorClass};
use toolwright_core::tool::{Danger, Effect};
use toolwright_journal::journal::{
    AnswerRecord, CallRecord, CallSlot, Entry, Note, State, StoredText, Transition, next, replay,
};
use toolwright_policy::policy::PolicyDecision;

use super::decide;
use crate::call::OnNoApprover;
use crate::lifecycle::snapshot::{
    Evaluated, FinalCall, HandsOver, Past, Preview, Snapshot, Stored, ToolNow,
};
use crate::lifecycle::step::{
    Attempt, AttemptError, DroppedClaim, End, Input, Need, Reconciliation, Settings, Step,
    SuppliedResult, Suspension, Then,
};
use crate::retry::RetryPolicy;

fn now() -> Timestamp {
    Timestamp::from_second(1_000).expect("a time")
}

fn settings() -> Settings {
    Settings {
        owner: "one".to_owned(),
        lease: Duration::from_secs(30),
        expires_after: Duration::from_secs(60),
        no_approver: Some(OnNoApprover::Park),
        seals: false,
        has_stages: false,
        lays_failures_aside: false,
        journal: None,
        project: None,
        acts_for: None,
        acts_as: None,
        is_closed: false,
        guards: super::super::Guards::default(),
    }
}

fn tool(effect: Effect) -> ToolNow {
    ToolNow {
        fingerprint: "f".to_owned(),
        effect,
        retry: RetryPolicy::TOOL,
        needs_caller: false,
        has_services: true,
        circuit: None,
        hands_over: None,
    }
}

/// A call that came to this state by the shortest way, and its history.
fn call(state: State, effect: Effect) -> (CallRecord, Vec<Entry>) {
    let place = CallSlot { run: "r".to_owned(), turn: None, index: 0 };
    let at = Timestamp::UNIX_EPOCH;
    let note = || Note { who: "somebody".to_owned(), at, why: None, signed: None };
    let plain = StoredText::Plain("{}".to_owned());
    let record = CallRecord::draft(CallId::from_bytes([1; 16]), place, "any", at).with(|it| {
        (it.effect, it.fingerprint, it.digest) = (effect, "f".to_owned(), "d".to_owned());
        (it.arguments, it.lease) = (plain.clone(), Some(at));
    });
    let opened = record.opened(note());
    let mut open = vec![(record, vec![opened])];
    for _ in 0..6 {
        if let Some(found) = open.iter().find(|(record, _)| record.state == state) {
            return found.clone();
        }
        let ways = open.iter().flat_map(|(record, history)| {
            Transition::all().filter_map(move |event| {
                next(record.state, event).ok()?;
                let (mut record, mut history) = (record.clone(), history.clone());
                history.push(record.advance(event, note()).ok()?);
                record.lease = Some(at);
                record.handed_over_until = Some(at);
                Some((record, history))
            })
        });
        let mut further: Vec<(CallRecord, Vec<Entry>)> = Vec::new();
        for way in ways {
            if further.iter().all(|(record, _)| record.state != way.0.state) {
                further.push(way);
            }
        }
        open = further;
    }
    panic!("no call comes to {state}");
}

fn inputs(record: &CallRecord) -> Vec<Input> {
    let answer = AnswerRecord::text("done");
    let attempt = |error| Attempt {
        epoch: record.epoch,
        error,
        answer: answer.clone(),
        more: None,
        is_released: false,
        time_left: None,
        circuit: None,
        retry: None,
    };
    let classes = [
        ErrorClass::NotStarted { retry_after: None },
        ErrorClass::Transient,
        ErrorClass::Invalid,
        ErrorClass::Final,
        ErrorClass::Cancelled,
        ErrorClass::Unknown,
    ];
    let dones = [None, Some(Done::NotBegun), Some(Done::TimedOut), Some(Done::Unavailable)];
    let errors = classes.into_iter().flat_map(|class| {
        dones.map(|done| {
            let kind = "k".to_owned();
            Some(AttemptError { class, done, kind, message: None, cause: None })
        })
    });
    let attempts = [None].into_iter().chain(errors).map(|error| Input::Attempted(attempt(error)));
    let dropped = [By::Caller, By::Worker].into_iter().flat_map(|by| {
        let epoch = record.epoch;
        [true, false].map(|is_begun| Input::Dropped(DroppedClaim { epoch, by, is_begun }))
    });
    let ends = [End::RunEnded, End::CallerGone, End::GivenUp, End::ShuttingDown];
    let ends = ends.into_iter().chain([End::ApproverFailed("why".to_owned())]).map(Input::Ended);
    let found = [None, Some(answer.clone())]
        .map(|happened| Input::Reconciled(Reconciliation { version: record.version, happened }));
    let suspension = Suspension { epoch: record.epoch, awaits: vec![CallId::from_bytes([2; 16])] };
    let supplied = SuppliedResult { generation: record.generation, answer: answer.clone() };
    let supplied = Input::Supplied(supplied);
    [Input::Resumed, Input::Due, Input::Noted, Input::Suspended(suspension)]
        .into_iter()
        .chain(attempts)
        .chain(dropped)
        .chain(ends)
        .chain(found)
        .chain([supplied])
        .collect()
}

/// What the driver would read.
fn read(
    snapshot: &mut Snapshot,
    input: &mut Input,
    history: &[Entry],
    need: Need,
    policy: &PolicyDecision,
) {
    let record = &snapshot.record;
    let arguments = FinalCall {
        arguments: record.arguments.clone(),
        shown: record.shown.clone(),
        repairs: Vec::new(),
        fingerprint: record.fingerprint.clone(),
        danger: Danger::Safe,
        effect: record.effect,
        secrets: Vec::new(),
        digest: record.digest.clone(),
        is_unchanged: true,
        is_former: false,
    };
    let evaluated = Evaluated {
        policy: policy.clone(),
        reviewable: false,
        four_eyes: false,
        has_secrets: false,
        arguments: Some(Box::new(arguments)),
    };
    let history = history.to_vec();
    let past = Past { history, decision: None, accepted: None, evaluated_by: None, edit: None };
    match need {
        Need::Past => snapshot.past = Some(past),
        Need::Run => snapshot.run_ended = Some(false),
        Need::Tool => snapshot.tool = Some(Ok(tool(record.effect))),
        Need::Stored => {
            snapshot.stored =
                Some(Stored::Readable { is_of_its_digest: true, shown: record.shown.clone() })
        }
        Need::Evaluated => snapshot.evaluated = Some(Ok(evaluated)),
        Need::Proposed => snapshot.proposed = Some(Ok(evaluated)),
        Need::Denials => snapshot.denied_before = Some(false),
        Need::Grants => snapshot.grants = Some(Vec::new()),
        Need::Preview => snapshot.preview = Some(Preview::Nothing),
        Need::Awaited => snapshot.awaited = Some(true),
        Need::UndecidedChildren => snapshot.undecided_children = Some(Vec::new()),
        Need::Begun => snapshot.begun = Some(1),
        Need::Attempts => snapshot.attempts = Some(3),
        Need::Retry | Need::More(_) => {
            if let Input::Attempted(attempt) = input {
                match need {
                    Need::More(more) => attempt.more = Some(more),
                    _ => attempt.retry = Some(true),
                }
            }
        }
    }
}

/// The step that an input leads to, once all has been read for it.
fn decided(
    record: &CallRecord,
    history: &[Entry],
    mut input: Input,
    policy: &PolicyDecision,
) -> Step {
    let mut snapshot = Snapshot::of(record.clone());
    for _ in 0..16 {
        let step = decide(&snapshot, &input, &settings(), now(), 7);
        match step.then {
            Then::Read(need) => read(&mut snapshot, &mut input, history, need, policy),
            _ => return step,
        }
    }
    panic!("{} and {input:?}: it is read for ever", record.state);
}

fn policies() -> [PolicyDecision; 4] {
    let ask = PolicyDecision::Ask { reasons: vec!["r".to_owned()], grants_count: true };
    let deny = PolicyDecision::Deny { reason: "d".to_owned() };
    [PolicyDecision::Allow, ask, deny, PolicyDecision::Queue]
}

#[test]
fn whatever_comes_in_whatever_state_what_is_committed_follows_from_the_history() {
    let mut commits = 0;
    for effect in [Effect::Read, Effect::Idempotent, Effect::Keyed, Effect::Once] {
        for state in State::ALL {
            // No way of these leads a call of another effect there.
            if state == State::Indeterminate && effect != Effect::Once {
                continue;
            }
            let (record, history) = call(state, effect);
            for input in inputs(&record) {
                for policy in policies() {
                    let step = decided(&record, &history, input.clone(), &policy);
                    let Some(unit) = step.commit else { continue };
                    let [write] = &unit.calls[..] else { panic!("{input:?}: one call each") };
                    assert_eq!(write.expects, Some(record.version));
                    assert!(write.record.version > record.version, "{state}, {input:?}");
                    let after: Vec<Entry> = history.iter().chain(&write.entries).cloned().collect();
                    assert_eq!(replay(&write.record, &after), Ok(()), "{state}, {input:?}");
                    let is_over = record.state.is_final();
                    assert!(!is_over, "{state} is final, and {input:?} changes it");
                    commits += 1;
                }
            }
        }
    }
    assert!(commits > 500, "only {commits} steps committed anything");
}

#[test]
fn what_is_decided_twice_of_one_input_changes_nothing_the_second_time() {
    for effect in [Effect::Idempotent, Effect::Once] {
        let (record, history) = call(State::Running, effect);
        for input in inputs(&record) {
            let again = matches!(input, Input::Attempted(_) | Input::Dropped(_) | Input::Due);
            let step = decided(&record, &history, input.clone(), &PolicyDecision::Allow);
            let (Some(unit), true) = (step.commit, again) else { continue };
            let [write] = &unit.calls[..] else { panic!("one call each") };
            let after: Vec<Entry> = history.iter().chain(&write.entries).cloned().collect();
            let second = decided(&write.record, &after, input.clone(), &PolicyDecision::Allow);
            assert_eq!((second.commit, second.then), (None, Then::Report), "{input:?}");
        }
    }
}

#[test]
fn a_late_owners_result_changes_nothing() {
    let (record, history) = call(State::Running, Effect::Once);
    for mut input in inputs(&record) {
        match &mut input {
            Input::Attempted(attempt) => attempt.epoch -= 1,
            Input::Dropped(dropped) => dropped.epoch -= 1,
            _ => continue,
        }
        let step = decided(&record, &history, input.clone(), &PolicyDecision::Allow);
        assert_eq!((step.commit, step.then), (None, Then::Report), "{input:?}");
    }
}

/// The decision on a call of a tool that is carried out elsewhere within a minute.
fn decided_elsewhere(record: &CallRecord, history: &[Entry], mut input: Input) -> Step {
    let mut snapshot = Snapshot::of(record.clone());
    loop {
        let step = decide(&snapshot, &input, &settings(), now(), 7);
        let Then::Read(need) = step.then else { return step };
        read(&mut snapshot, &mut input, history, need, &PolicyDecision::Allow);
        if let Some(Ok(tool)) = &mut snapshot.tool {
            let within = Duration::from_secs(60);
            tool.hands_over = Some(HandsOver { within, why_not: None });
        }
    }
}

#[test]
fn a_call_is_claimed_and_handed_over_in_one_commit() {
    let (record, history) = call(State::Ready, Effect::Once);
    let step = decided_elsewhere(&record, &history, Input::Resumed);
    let write = &step.commit.expect("it is handed over").calls[0];
    let events: Vec<_> = write.entries.iter().filter_map(|entry| entry.event).collect();
    assert_eq!(events, [Transition::Claimed, Transition::HandedOver]);
    assert_eq!((write.record.state, step.then), (State::HandedOver, Then::Report));
    assert_eq!(write.record.due(), now().checked_add(Duration::from_secs(60)).ok());
    assert!(write.record.owner.is_none() && write.record.lease.is_none());
}

#[test]
fn a_result_counts_once_in_its_time_and_for_its_generation() {
    let (handed, history) = call(State::HandedOver, Effect::Once);
    let open = handed.clone().with(|it| it.handed_over_until = Some(Timestamp::MAX));
    let supplied =
        |generation, answer: AnswerRecord| Input::Supplied(SuppliedResult { generation, answer });
    let state_after = |record: &CallRecord, input| {
        decided_elsewhere(record, &history, input).commit.map(|unit| unit.calls[0].record.state)
    };
    let generation = open.generation;
    let result = || supplied(generation, AnswerRecord::text("done"));
    assert_eq!(state_after(&open, result()), Some(State::Succeeded));
    let failed = supplied(generation, AnswerRecord::error("closed", "the page was closed", None));
    assert_eq!(state_after(&open, failed), Some(State::Failed));
    assert_eq!(state_after(&handed, result()), Some(State::Expired));
    let other = supplied(generation + 1, AnswerRecord::text("done"));
    assert_eq!(state_after(&open, other), None);
    for state in State::ALL.into_iter().filter(|it| *it != State::HandedOver) {
        if state == State::Indeterminate {
            continue;
        }
        let (record, history) = call(state, Effect::Idempotent);
        let input = supplied(record.generation, AnswerRecord::text("done"));
        assert_eq!(decided_elsewhere(&record, &history, input).commit, None, "{state}");
    }
}

#[test]
fn a_history_that_is_younger_than_the_record_is_read_once_more() {
    let (record, mut history) = call(State::Ready, Effect::Once);
    let note = Note { who: "other".to_owned(), at: now(), why: None, signed: None };
    let mut claimed = record.clone();
    history.push(claimed.advance(Transition::Claimed, note).expect("it is ready"));
    let step = decided(&record, &history, Input::Resumed, &PolicyDecision::Allow);
    assert_eq!((step.commit, step.then), (None, Then::Reload));
}

/// Its digest is one that only the version before makes.
#[test]
fn a_call_that_the_version_before_allowed_is_evaluated_again_and_not_refused() {
    let (record, history) = call(State::Ready, Effect::Once);
    let (mut snapshot, mut input) = (Snapshot::of(record.clone()), Input::Resumed);
    let step = loop {
        let step = decide(&snapshot, &input, &settings(), now(), 7);
        let Then::Read(need) = step.then else { break step };
        read(&mut snapshot, &mut input, &history, need, &PolicyDecision::Allow);
        if let Some(Ok(Evaluated { arguments: Some(arguments), .. })) = &mut snapshot.evaluated {
            arguments.digest = "of this version".to_owned();
            arguments.is_former = true;
        }
    };
    let write = &step.commit.expect("it moves").calls[0];
    assert_eq!((write.record.state, step.then), (State::Judging, Then::Continue));
    assert_eq!(write.entries[0].event, Some(Transition::Changed));
}

#[test]
fn a_record_that_its_history_contradicts_is_not_run() {
    let (record, mut history) = call(State::Ready, Effect::Once);
    history.pop();
    let step = decided(&record, &history, Input::Resumed, &PolicyDecision::Allow);
    assert!(step.commit.is_none() && matches!(step.then, Then::Fail(_)), "{:?}", step.then);
}

#[test]
fn what_is_read_survives_json() {
    let (record, history) = call(State::Ready, Effect::Once);
    let mut snapshot = Snapshot::of(record);
    let mut input = Input::Resumed;
    for need in [
        Need::Past,
        Need::Run,
        Need::Tool,
        Need::Stored,
        Need::Evaluated,
        Need::Proposed,
        Need::Denials,
        Need::Grants,
        Need::Preview,
        Need::Begun,
        Need::Attempts,
    ] {
        read(&mut snapshot, &mut input, &history, need, &PolicyDecision::Allow);
    }
    let text = serde_json::to_string(&snapshot).expect("plain data");
    let back: Snapshot = serde_json::from_str(&text).expect("the same data");
    assert_eq!(back, snapshot);
}
