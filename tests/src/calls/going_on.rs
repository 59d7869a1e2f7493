//! What is gone on with by whoever looks, after its caller has its answer or while it waits for a place: in the order of
//! its plan, held up by nobody's thinking, back to people where it cannot run.

use std::time::Duration;

use futures::future::join;
use toolwright::approval::Statement;
use toolwright::journal::{CallRecord, Journal, State};
use toolwright::policy::{Mode, Policy, Protection};
use toolwright::{Call, CallId, Executor, OnNoApprover, Registry, tool};

use super::hostile::tools::{FOR_RUN, Thinks, Ticket, builder_of};
use super::support::{Office, Ran, answered, key, office, path, suspended};
use crate::support::kind;

/// Takes a while.
#[tool(name = "going_step")]
async fn step(
    ran: &Ran,
    /// Which.
    number: u8,
) {
    ran.add(format!("{number} begins"));
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    ran.add(format!("{number} ends"));
}

/// Asks about what goes abroad, and breaks.
#[tool(name = "going_parcel", effect = idempotent, approval = (to == "abroad").then(|| "it goes abroad".to_owned()))]
async fn parcel(
    ran: &Ran,
    /// To whom.
    to: String,
) -> String {
    ran.add(to.clone());
    assert_ne!(ran.times(), 1, "the post is broken");
    to
}

/// Breaks, for whoever calls.
#[tool(name = "going_for_caller", effect = idempotent)]
async fn for_caller(ticket: &Ticket, ran: &Ran) -> String {
    ran.add(ticket.0);
    panic!("broken")
}

fn planning(office: &Office, registry: Registry) -> toolwright::ExecutorBuilder {
    let policy = Policy::builder().mode(Mode::Unrestricted).without(Protection::ALL).plan(true);
    let clock = office.clock.clone();
    Executor::builder(registry)
        .policy(policy)
        .service_arc(std::sync::Arc::clone(&office.ran))
        .journal(
            Journal::new(office.store.clone())
                .trust("ada", office.ada.public())
                .on_no_approver(OnNoApprover::Park)
                .clock(move || clock.now()),
        )
}

async fn accept(office: &Office, record: &CallRecord) {
    office.say(Statement::accept(record, "ada", office.clock.now())).await.unwrap();
}

async fn requeue(office: &Office, id: CallId) {
    let record = office.record(id).await;
    office.say(Statement::requeue(&record, false, "ada", office.clock.now())).await.unwrap();
}

#[tokio::test]
async fn what_was_accepted_of_a_plan_runs_one_after_the_other_in_its_order() {
    let office = office();
    let executor = planning(&office, Registry::of([STEP]).unwrap()).build().unwrap();
    for number in 1..=3 {
        let arguments = format!(r#"{{"number":{number}}}"#);
        answered(executor.submit(&Call::new("going_step", arguments)).await);
    }
    for record in office.records().await.iter().rev() {
        accept(&office, record).await;
    }
    for _ in 0..3 {
        executor.worker().unwrap().sweep().await.unwrap();
    }
    let all = ["1 begins", "1 ends", "2 begins", "2 ends", "3 begins", "3 ends"];
    assert_eq!(office.ran.all(), all);
}

#[tokio::test]
async fn the_next_of_a_plan_waits_while_a_person_decides_about_the_one_before() {
    let office = office();
    let registry = Registry::of([PARCEL, STEP]).unwrap();
    let executor = planning(&office, registry).build().unwrap();
    answered(executor.submit(&Call::new("going_parcel", r#"{"to":"abroad"}"#)).await);
    answered(executor.submit(&Call::new("going_step", r#"{"number":2}"#)).await);
    let planned = office.records().await;
    for record in &planned {
        accept(&office, record).await;
    }
    for _ in 0..2 {
        executor.worker().unwrap().sweep().await.unwrap();
    }
    assert_eq!(office.state(planned[0].id).await, State::Pending);
    assert_eq!((office.state(planned[1].id).await, office.ran.times()), (State::Judging, 0));
    office.reject(planned[0].id, "no").await.unwrap();
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.ran.all(), ["2 begins", "2 ends"]);
}

/// Somebody who thinks for a day must not take the one place there is.
#[tokio::test(start_paused = true)]
async fn a_worker_runs_calls_while_people_think_about_others() {
    let office = office();
    let planning = planning(&office, Registry::of([PARCEL, STEP]).unwrap()).build().unwrap();
    for (run, call) in [
        ("a", Call::new("going_parcel", r#"{"to":"abroad"}"#)),
        ("b", Call::new("going_step", r#"{"number":1}"#)),
    ] {
        answered(planning.run(run).start().unwrap().submit(&call).await);
    }
    let planned = office.records().await;
    for record in &planned {
        accept(&office, record).await;
    }
    let executor = builder_of(&office, Registry::of([PARCEL, STEP]).unwrap())
        .approver(key("bob", 2), Thinks)
        .limit(1)
        .build()
        .unwrap();
    let done = async {
        while office.state(planned[1].id).await != State::Succeeded {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let worker = executor.worker().unwrap();
    let worked = tokio::time::timeout(Duration::from_secs(600), async {
        tokio::select! { () = worker.work() => unreachable!(), () = done => {} }
    });
    assert!(worked.await.is_ok(), "the other call was never begun");
    assert_eq!(office.state(planned[0].id).await, State::Pending);
}

#[tokio::test]
async fn a_requeued_letter_that_asks_is_put_back_where_a_call_without_approver_fails() {
    let office = office();
    let registry = || Registry::of([PARCEL]).unwrap();
    let builder = builder_of(&office, registry());
    let executor = builder.build().unwrap();
    let id =
        suspended(executor.submit(&Call::new("going_parcel", r#"{"to":"abroad"}"#)).await).call;
    office.approve(id).await.unwrap();
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.state(id).await, State::Dead);
    requeue(&office, id).await;
    let failing = builder_of(&office, registry())
        .journal(office.parking().on_no_approver(OnNoApprover::Fail));
    failing.build().unwrap().worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.state(id).await, State::Dead);
    let why = office.history(id).await.pop().unwrap().why.unwrap();
    assert!(why.contains("no approver can be asked here"), "{why}");
}

/// Whoever brought its service has an answer, and will not come again.
#[tokio::test]
async fn a_requeued_letter_that_needs_its_caller_is_put_back() {
    let office = office();
    let builder = builder_of(&office, Registry::of([FOR_CALLER]).unwrap());
    let executor = builder.per_call::<Ticket>().build().unwrap();
    let call = Call::new("going_for_caller", "{}").with(Ticket("T-1"));
    assert_eq!(kind(&answered(executor.submit(&call).await)), "panic");
    let id = office.records().await[0].id;
    requeue(&office, id).await;
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!((office.state(id).await, office.ran.times()), (State::Dead, 1));
    let why = office.history(id).await.pop().unwrap().why.unwrap();
    assert!(why.contains("needs services that its caller brings"), "{why}");
}

#[tokio::test]
async fn a_call_that_needs_its_caller_is_not_put_into_a_plan() {
    let office = office();
    let builder = planning(&office, Registry::of([FOR_RUN]).unwrap());
    let executor = builder.per_call::<Ticket>().build().unwrap();
    let call = Call::new("kept_for_run", "{}").with(Ticket("T-1"));
    let refused = answered(executor.submit(&call).await);
    assert!(refused.text().contains("cannot be put into the plan"), "{}", refused.text());
    assert!(office.records().await.is_empty());
}

/// Invariant 7. What was claimed under a lease that ended meanwhile is claimed anew, and that was no attempt.
#[tokio::test]
async fn a_claim_that_lapses_while_its_call_waits_for_a_place_is_not_begun() {
    let office = office();
    let executor = office.builder().limit(1).timeout(Some(Duration::from_millis(200)));
    let executor = executor.build().unwrap();
    let (hang, note) = (Call::new("kept_hang", "{}"), Call::new("kept_note", r#"{"text":"a"}"#));
    let waits = async {
        while office.ran.times() == 0 {
            tokio::task::yield_now().await;
        }
        let stands_still = async {
            while office.records().await.len() < 2 {
                tokio::task::yield_now().await;
            }
            office.clock.pass(Duration::from_secs(31));
        };
        join(executor.submit(&note), stands_still).await.0
    };
    let (_, outcome) = join(executor.submit(&hang), waits).await;
    let waits = suspended(outcome);
    assert_eq!((waits.state, office.ran.all()), (State::Ready, vec!["hang".to_owned()]));
    assert_eq!(answered(executor.worker().unwrap().resume(waits.call).await).text(), "a");
    let record = office.record(waits.call).await;
    assert_eq!((record.epoch, record.attempt), (2, 1));
    let path = path(&office.history(record.id).await);
    assert_eq!(path, "judging → ready → running → ready → running → succeeded");
}
