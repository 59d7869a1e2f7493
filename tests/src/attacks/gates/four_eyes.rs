//! With four eyes, what a call's own user says opens nothing: no approval, no accepted plan, no grant; however the name is
//! spelt, and whether there is one.

use toolwright::approval::{Callback, Response, Statement};
use toolwright::journal::{CallRecord, State};
use toolwright::{Call, Executor};

use crate::calls::support::{Office, a_refund, answered, key, office, path, suspended, terms};
use crate::policy::kept::open;
use crate::support::kind;

fn executor(office: &Office, plan: bool) -> Executor {
    let builder = office.ruled().policy(open().four_eyes(true).plan(plan));
    let journal = office.parking().trust("bob", key("bob", 2).public());
    builder.journal(journal).build().unwrap()
}

fn accept(record: &CallRecord, office: &Office, by: &str) -> Statement {
    Statement::accept(record, by, office.clock.now())
}

/// What Bob says counts from now on.
async fn say_as_bob(office: &Office, statement: &Statement) {
    let signed = key("bob", 2).sign(statement).unwrap();
    office.service().submit(signed, office.clock.now()).await.unwrap();
}

#[tokio::test]
async fn the_user_of_a_call_does_not_accept_their_own_plan() {
    let office = office();
    let executor = executor(&office, true);
    let run = executor.run("own").user("Ada").start().unwrap();
    answered(run.submit(&Call::new("kept_note", r#"{"text":"a"}"#)).await);
    let [record] = &office.records().await[..] else { panic!("one") };
    office.say(accept(record, &office, "ada")).await.unwrap();
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!((office.state(record.id).await, office.ran.times()), (State::Planned, 0));
    let history = office.history(record.id).await;
    assert_eq!(path(&history), "judging → planned → judging → planned");
    assert_eq!(
        history[3].why.as_deref(),
        Some(
            "that its plan is accepted does not count: with `four_eyes`, the user that a call is made for may not approve it"
        )
    );

    // Another person accepts the same plan.
    let again = office.record(record.id).await;
    say_as_bob(&office, &accept(&again, &office, "bob")).await;
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!((office.state(record.id).await, office.ran.times()), (State::Succeeded, 1));
}

/// The acceptance is looked at once more when the call is claimed: four eyes may be wanted by then.
#[tokio::test]
async fn a_plan_that_its_user_accepted_before_four_eyes_were_wanted_waits_for_another() {
    let office = office();
    let lax = office.ruled().policy(open().plan(true)).journal(office.parking());
    let lax = lax.build().unwrap();
    let run = lax.run("own").user("ada").start().unwrap();
    answered(run.submit(&Call::new("kept_note", r#"{"text":"a"}"#)).await);
    let [record] = &office.records().await[..] else { panic!("one") };
    office.say(accept(record, &office, "ada")).await.unwrap();
    executor(&office, true).worker().unwrap().sweep().await.unwrap();
    assert_eq!((office.state(record.id).await, office.ran.times()), (State::Planned, 0));
}

#[tokio::test]
async fn a_name_in_another_spelling_is_no_other_person() {
    for user in
        ["Ada", "ada ", "\tADA", "a\u{200b}da", "\u{feff}ada", "ad\u{ad}a", "a da", "ａｄａ"]
    {
        let office = office();
        let run = executor(&office, false).run("own").user(user).start().unwrap();
        let waits = suspended(run.submit(&a_refund()).await);
        office.approve(waits.call).await.unwrap();
        let still = suspended(run.worker().unwrap().resume(waits.call).await);
        assert_eq!((still.state, office.ran.times()), (State::Pending, 0), "{user:?}");
    }
}

#[tokio::test]
async fn a_call_without_a_user_is_refused_where_another_person_would_have_to_approve_it() {
    for plan in [false, true] {
        let office = office();
        let executor = executor(&office, plan);
        let runs = [executor.run("none").start(), executor.run("blank").user(" ").start()];
        for run in runs.map(Result::unwrap) {
            let refused = answered(run.submit(&a_refund()).await);
            assert_eq!(kind(&refused), "approval_required", "plan: {plan}");
            let words = refused.error().unwrap().to_string();
            assert!(words.contains("the call has no user"), "{words}");
        }
        assert_eq!(office.ran.times(), 0);
    }
}

/// A call that waited before the policy wanted four eyes, and has no user, does not run by anybody's word.
#[tokio::test]
async fn a_call_without_a_user_that_was_approved_before_is_refused_at_its_claim() {
    let office = office();
    let waits = suspended(office.executor().submit(&a_refund()).await);
    office.approve(waits.call).await.unwrap();
    let strict = executor(&office, false);
    assert_eq!(
        kind(&answered(strict.worker().unwrap().resume(waits.call).await)),
        "approval_required"
    );
    assert_eq!(office.ran.times(), 0);
}

#[tokio::test]
async fn a_grant_of_the_calls_own_user_opens_nothing() {
    let office = office();
    let executor = executor(&office, false);
    // Bob's call, by which Ada gives a grant.
    let of_bob = executor.run("of bob").user("bob").start().unwrap();
    let waits = suspended(of_bob.submit(&a_refund()).await);
    let record = office.record(waits.call).await;
    let granting =
        Statement::approve_with_grant(&record, terms(&record), "ada", office.clock.now());
    office.say(granting).await.unwrap();
    assert_eq!(kind(&answered(of_bob.worker().unwrap().resume(waits.call).await)), "ok");
    assert_eq!(kind(&answered(of_bob.submit(&a_refund()).await)), "ok");
    for user in ["ada", "Ada "] {
        let own = executor.run(format!("of {user}")).user(user).start().unwrap();
        suspended(own.submit(&a_refund()).await);
    }
    assert_eq!(office.ran.times(), 2);
}

/// Ada's approval would not count, so that she is not asked for it, again and again.
#[tokio::test]
async fn an_approver_who_is_the_calls_own_user_is_not_asked() {
    let office = office();
    let builder = office.ruled().policy(open().four_eyes(true));
    let journal = office.journal().trust("bob", key("bob", 2).public());
    let approving = Callback::new(|_| Response::Approve);
    let builder = builder.journal(journal).approver(office.ada.clone(), approving);
    let executor = builder.build().unwrap();
    let run = executor.run("own").user("ada").start().unwrap();
    let waits = suspended(run.submit(&a_refund()).await);
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!((office.state(waits.call).await, office.ran.times()), (State::Pending, 0));
    assert_eq!(path(&office.history(waits.call).await), "judging → pending");

    let of_another = executor.run("another").user("carl").start().unwrap();
    assert_eq!(kind(&answered(of_another.submit(&a_refund()).await)), "ok");
}
