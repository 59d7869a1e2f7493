//! A journal that somebody damages: one call that cannot be read, or cannot be counted on, stops no other.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use toolwright::approval::{
    ApprovalRequest, Approver, ApproverError, Callback, Reply, Response, Statement,
};
use toolwright::journal::{
    CallRecord, CallWrite, DocumentWrite, Journal, State, Store, Transaction,
};
use toolwright::policy::{Mode, Policy, Protection};
use toolwright::{
    Answer, Call, CallId, ErrorClass, Executor, OnNoApprover, Outcome, Registry, ToolError,
    ToolEventKind, tool,
};

use crate::calls::odd::Odd;
use crate::calls::support::{Office, Ran, a_refund, answered, office, suspended};
use crate::support::{Log, kind};

const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn waiting(office: &Office) -> CallId {
    suspended(office.executor().submit(&a_refund()).await).call
}

async fn ready(office: &Office) -> CallId {
    let id = waiting(office).await;
    office.approve(id).await.unwrap();
    id
}

/// Every kind of work that a sweep does has a damaged call before a whole one.
#[tokio::test]
async fn a_damaged_call_stops_no_sweep() {
    let office = office();
    let mut damaged = vec![waiting(&office).await];
    let expires = waiting(&office).await;
    office.clock.pass(A_DAY);
    damaged.push(ready(&office).await);
    let runs = ready(&office).await;
    for lost in 0..2 {
        let hang = Call::new("kept_hang", "{}");
        let executor = office.executor();
        let submitted = executor.submit(&hang);
        assert!(tokio::time::timeout(Duration::from_millis(20), submitted).await.is_err());
        let id = office.records().await.last().unwrap().id;
        let mut record = office.record(id).await;
        let expects = Some(record.version);
        (record.state, record.owner) = (State::Running, Some("gone".to_owned()));
        (record.version, record.lease) = (record.version + 1, Some(office.clock.now()));
        write(&office, expects, record).await;
        if lost == 0 {
            damaged.push(id);
        }
    }
    damaged.iter().for_each(|id| office.store.damage(*id));
    let swept = office.executor().worker().unwrap().sweep().await.unwrap();
    assert_eq!((swept.expired, swept.lost, swept.gone_on), (1, 1, 1), "{swept:?}");
    assert_eq!(swept.left, damaged.len(), "what was left out is counted: {swept:?}");
    assert_eq!(office.state(expires).await, State::Expired);
    assert_eq!(office.state(runs).await, State::Succeeded);
}

#[tokio::test]
async fn a_damaged_call_stops_no_worker() {
    let office = office();
    let (damaged, runs) = (ready(&office).await, ready(&office).await);
    office.store.damage(damaged);
    let executor = office.executor();
    let worker = executor.worker().unwrap();
    let runs = async {
        while office.state(runs).await != State::Succeeded {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        () = worker.work() => panic!("the worker ended"),
        ended = tokio::time::timeout(Duration::from_secs(30), runs) => ended.unwrap(),
    }
    let failure = worker.resume(damaged).await.failure().map(ToString::to_string).unwrap();
    assert!(failure.contains(&damaged.to_string()), "{failure}");
}

#[tokio::test]
async fn an_approver_is_notified_of_the_calls_beside_a_damaged_one() {
    let office = office();
    let (damaged, whole) = (waiting(&office).await, waiting(&office).await);
    office.store.damage(damaged);
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let approver = Callback::new(move |request: &ApprovalRequest| {
        seen.lock().unwrap().push(request.call);
        Response::Approve
    });
    let executor = office.bare().approver(office.ada.clone(), approver).build().unwrap();
    let swept = executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!((swept.notified, swept.left), (1, 1), "{swept:?}");
    assert_eq!(*asked.lock().unwrap(), [whole]);
}

#[tokio::test]
async fn the_end_of_a_run_ends_the_calls_beside_a_damaged_one() {
    let office = office();
    let run = office.executor().run("r").start().unwrap();
    let mut calls = Vec::new();
    for _ in 0..3 {
        calls.push(suspended(run.submit(&a_refund()).await).call);
    }
    office.store.damage(calls[0]);
    assert_eq!(office.executor().worker().unwrap().end_run("r").await.unwrap(), 2);
    assert_eq!(office.state(calls[2]).await, State::Cancelled);
}

/// As after a restart: what is recorded of the turn counts, and what is not begins.
#[tokio::test]
async fn the_calls_of_a_turn_go_on_beside_a_damaged_one() {
    let office = office();
    let run = office.executor().run("r").start().unwrap();
    let note = || Call::new("kept_note", r#"{"text":"a"}"#);
    let calls = [a_refund(), note(), note()];
    let waits = suspended(run.submit_turn(1, &calls[..2]).await.remove(0));
    office.store.damage(waits.call);
    let mut outcomes = run.submit_turn(1, &calls).await.into_iter();
    let damaged = outcomes.next().unwrap();
    let failure = damaged.failure().map(ToString::to_string).unwrap();
    assert!(failure.contains(&waits.call.to_string()), "{failure}");
    for known_or_new in outcomes {
        assert_eq!(answered(known_or_new).text(), "a");
    }
    assert_eq!(office.ran.times(), 2);
}

/// That it was rejected is known of it, whatever else cannot be read.
#[tokio::test]
async fn a_rejected_call_that_cannot_be_read_is_not_asked_about_again() {
    let office = office();
    let run = office.executor().run("r").start().unwrap();
    let rejected = suspended(run.submit(&a_refund()).await).call;
    office.reject(rejected, "no").await.unwrap();
    office.store.damage(rejected);
    let again = answered(run.submit(&a_refund()).await);
    assert_ne!(kind(&again), "ok", "{}", again.text());
}

/// Nobody knows whether the damaged call is of the plan, which runs in its order.
#[tokio::test]
async fn a_plan_waits_for_a_call_of_its_run_that_cannot_be_read_and_other_plans_do_not() {
    let office = office();
    let policy = Policy::builder().mode(Mode::Unrestricted).without(Protection::ALL).plan(true);
    let executor = office.ruled().policy(policy).journal(office.parking()).build().unwrap();
    let note = |text: &str| Call::new("kept_note", format!(r#"{{"text":"{text}"}}"#));
    for (run, texts) in [("one", ["a", "b"]), ("two", ["c", "d"])] {
        let run = executor.run(run).start().unwrap();
        for text in texts {
            answered(run.submit(&note(text)).await);
        }
    }
    let records = office.records().await;
    for record in &records {
        office.say(accept(record, &office)).await.unwrap();
    }
    office.store.damage(records[0].id);
    for _ in 0..3 {
        executor.worker().unwrap().sweep().await.unwrap();
    }
    assert_eq!(office.state(records[1].id).await, State::Judging, "it is not its turn");
    assert_eq!(office.state(records[3].id).await, State::Succeeded);
    assert_eq!(office.ran.times(), 2);
}

fn accept(record: &CallRecord, office: &Office) -> Statement {
    Statement::accept(record, "ada", office.clock.now())
}

/// As somebody who can write to the journal writes it.
async fn write(office: &Office, expects: Option<u64>, record: CallRecord) {
    let calls = vec![CallWrite { expects, record, entries: Vec::new() }];
    let unit = Transaction { calls, ..Transaction::default() };
    office.store.commit(unit, office.clock.now()).await.unwrap();
}

#[tokio::test]
async fn a_counter_at_its_maximum_is_an_error_of_its_call_alone() {
    type Set = fn(&mut CallRecord);
    let counters: [(&str, Set); 4] = [
        ("version", |it| it.version = u64::MAX),
        ("version", |it| it.version = u64::MAX - 1),
        ("epoch", |it| it.epoch = u64::MAX),
        ("attempt", |it| it.attempt = u32::MAX),
    ];
    for (name, set) in counters {
        let office = office();
        let (broken, whole) = (ready(&office).await, ready(&office).await);
        let mut record = office.record(broken).await;
        let expects = Some(record.version);
        record.version += 1;
        set(&mut record);
        write(&office, expects, record.clone()).await;
        let executor = office.executor();
        let worker = executor.worker().unwrap();
        let Outcome::Failed(failure) = worker.resume(broken).await else {
            panic!("it went on with {name} at its maximum")
        };
        let words = failure.to_string();
        let expected = format!("its {name} is the highest number there is");
        assert!(words.contains(&expected) && words.contains(&broken.to_string()), "{words}");
        let swept = worker.sweep().await.unwrap();
        assert_eq!(swept.gone_on, 1, "{name}: {swept:?}");
        assert_eq!(office.state(whole).await, State::Succeeded);
        assert_eq!(office.record(broken).await, record, "nothing was written");
        assert_eq!(office.ran.times(), 1);
    }
}

#[tokio::test]
async fn a_generation_at_its_maximum_is_an_error_of_its_call_alone() {
    let office = office();
    let (broken, whole) = (waiting(&office).await, waiting(&office).await);
    let mut record = office.record(broken).await;
    let expects = Some(record.version);
    (record.version, record.generation) = (record.version + 1, u32::MAX);
    write(&office, expects, record.clone()).await;
    let edit = |record: &CallRecord| {
        let arguments = r#"{"cents":1,"order":"A-1"}"#;
        Statement::edit(record, arguments, record.digest.clone(), "ada", office.clock.now())
    };
    let error = office.say(edit(&record)).await.unwrap_err();
    let expected =
        format!("nothing can be decided on call {broken}: its generation is the highest number");
    assert!(error.to_string().starts_with(&expected), "{error}");
    office.say(edit(&office.record(whole).await)).await.unwrap();
    assert_eq!(office.record(broken).await, record);
}

/// Decides another time.
struct Later;

impl Approver for Later {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Result<Reply, ApproverError>> {
        Box::pin(async { Ok(Reply::Noted) })
    }
}

/// What is due, what is ended, and what an approver has taken note of.
#[tokio::test]
async fn a_version_at_its_maximum_stops_neither_deadlines_nor_the_end_of_a_run() {
    let office = office();
    let run = office.executor().run("r").start().unwrap();
    let [broken, whole] = [
        suspended(run.submit(&a_refund()).await).call,
        suspended(run.submit(&a_refund()).await).call,
    ];
    let mut record = office.record(broken).await;
    let expects = Some(record.version);
    record.version = u64::MAX;
    write(&office, expects, record).await;
    let executor = office.bare().approver(office.ada.clone(), Later).build().unwrap();
    executor.worker().unwrap().sweep().await.unwrap();
    let failure = executor.worker().unwrap().end_run("r").await.unwrap_err().to_string();
    assert!(failure.contains("its version is the highest number there is"), "{failure}");
    assert_eq!(office.state(whole).await, State::Cancelled);
    office.clock.pass(A_DAY);
    let swept = executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!((swept.expired, swept.left), (0, 1), "{swept:?}");
}

#[tokio::test]
async fn the_version_of_a_document_at_its_maximum_is_an_error() {
    let write = |expects: Option<u64>| DocumentWrite {
        key: "note".to_owned(),
        expects,
        text: Some("a".to_owned()),
    };
    assert_eq!(write(None).next_version(), Ok(1));
    assert_eq!(write(Some(7)).next_version(), Ok(8));
    let error = write(Some(u64::MAX)).next_version().unwrap_err().to_string();
    assert!(error.starts_with("document `note` has version 18446744073709551615"), "{error}");
}

/// Takes a while.
#[tool(name = "rows_ship", approval = "it cannot be brought back")]
async fn ship(ran: &Ran) {
    tokio::time::sleep(Duration::from_secs(5)).await;
    ran.add("ship");
}

/// As while a journal has a foreign trigger: what was refused, or may have been, is no claim that is given back when the
/// same executor has claimed the call after all.
#[tokio::test(start_paused = true)]
async fn a_claim_that_was_not_written_gives_back_no_later_claim() {
    let odd = |fails_at, away_for| move |inner| Odd { inner, fails_at, away_for, ..Odd::default() };
    for (refuses, odd) in [("full", odd(Some(1), 0)), ("away", odd(None, 4))] {
        let office = office();
        let built = |store: Odd| {
            let builder = Executor::builder(Registry::of([SHIP]).unwrap()).unrestricted();
            let builder = builder.service_arc(Arc::clone(&office.ran));
            builder.journal(office.parking_in(store)).build().unwrap()
        };
        let whole = built(Odd { inner: office.store.clone(), ..Odd::default() });
        let id = suspended(whole.submit(&Call::new("rows_ship", "{}")).await).call;
        office.approve(id).await.unwrap();
        let worker = built(odd(office.store.clone())).worker().unwrap();
        let refused = worker.resume(id).await;
        assert!(matches!(refused, Outcome::Failed(_)), "{refuses}: {refused:?}");
        office.clock.pass(Duration::from_millis(1));
        assert_eq!(kind(&answered(worker.resume(id).await)), "ok", "{refuses}");
        assert_eq!((office.ran.times(), office.state(id).await), (1, State::Succeeded));
    }
}

const SECRET: &str = "correct horse";

/// Signs in, and repeats its password in what it says.
#[tool(name = "rows_sign_in", retry(attempts = 2), effect = idempotent)]
async fn sign_in(
    /// How it ends.
    how: String,
    /// With what.
    #[arg(secret)]
    password: String,
) -> Result<String, ToolError> {
    let error = || {
        let words = format!("{password} was refused");
        ToolError::new("refused", words.clone())
            .hint(words.clone())
            .details(serde_json::json!({ "words": words.clone() }))
            .caused_by(words)
    };
    match how.as_str() {
        "transient" => Err(error().class(ErrorClass::Transient)),
        "final" => Err(error()),
        _ => Ok(format!("signed in with {password}")),
    }
}

/// What the journal withholds, listeners do not get: with a journal, without one, and where another process goes on.
#[tokio::test]
async fn listeners_get_no_words_that_may_repeat_a_secret() {
    let office = office();
    for (how, ends) in [("transient", "refused"), ("final", "refused"), ("well", "ok")] {
        for journalled in [false, true] {
            let log = Log::default();
            let lines = log.clone();
            let registry = Registry::of([SIGN_IN]).unwrap();
            let builder = match journalled {
                true => Executor::builder(registry)
                    .journal(Journal::new(office.store.clone()).on_no_approver(OnNoApprover::Park)),
                false => Executor::builder(registry),
            };
            let executor = builder
                .unrestricted()
                .retry(toolwright::retry::RetryPolicy::TOOL.delay(Duration::from_millis(1)))
                .listen(move |event| {
                    let more = match event.kind {
                        ToolEventKind::Failed { error, .. }
                        | ToolEventKind::Retrying { error, .. } => {
                            let cause = error.source().map(ToString::to_string);
                            format!("{} {:?}", error.kind(), (error.to_json(), cause))
                        }
                        ToolEventKind::Completed { answer, .. } => answer.text().into_owned(),
                        kind => format!("{kind:?}"),
                    };
                    lines.add(format!("{} {more}", crate::support::word(&event.kind)));
                })
                .build()
                .unwrap();
            let arguments = format!(r#"{{"how":"{how}","password":"{SECRET}"}}"#);
            let call = Call::new("rows_sign_in", arguments);
            let answer: Answer = executor.call(&call).await;
            assert_eq!(kind(&answer), ends);
            assert!(answer.text().contains(SECRET), "its model gets it: {}", answer.text());
            let heard = log.lines();
            let heard: Vec<&String> =
                heard.iter().filter(|it| !it.starts_with("started")).collect();
            assert!(heard.iter().all(|it| !it.contains(SECRET)), "{journalled} {heard:#?}");
            let last = heard.last().unwrap();
            let expected = if ends == "ok" { "completed (not shown" } else { "failed refused" };
            assert!(last.starts_with(expected), "{heard:#?}");
        }
    }
}
