//! A parent runs again, after a crash or a failure: its children do not.

use std::sync::Arc;
use std::time::Duration;

use toolwright::journal::State;
use toolwright::retry::CircuitBreaker;
use toolwright::{
    Call, Calls, ErrorClass, Executor, ExecutorBuilder, OnNoApprover, Profile, Registry, ToolError,
    tool,
};

use super::super::support::{Clock, FAIL, NOTE, Office, REFUND, Ran, answered, office};
use super::{RELAY, children, executor, parent, relayed};
use crate::support::kind;

/// Notes something, and then waits for ever in its first attempt.
#[tool(name = "nested_note_and_hang", effect = idempotent)]
async fn note_and_hang(calls: &Calls, ran: &Ran) -> Result<String, ToolError> {
    ran.add("parent");
    let noted: String = calls.to(NOTE).with("text", "a").await_as().await?;
    if ran.all().iter().filter(|it| *it == "parent").count() == 1 {
        ran.add("hangs");
        crate::support::forever::<()>().await;
    }
    Ok(noted)
}

/// Calls something else whenever it runs.
#[tool(name = "nested_fickle", effect = idempotent, retry(attempts = 2, delay = "1ms"))]
async fn fickle(calls: &Calls, ran: &Ran) -> Result<String, ToolError> {
    ran.add("parent");
    let text = format!("{}", ran.times());
    let _noted: String = calls.to(NOTE).with("text", &text).await_as().await?;
    Err(ToolError::new("lost", "the connection was lost").class(ErrorClass::Transient))
}

/// Tries a call, and then waits for ever in its first attempt; tells how the call ended.
#[tool(name = "nested_try_and_hang", effect = idempotent)]
async fn try_and_hang(
    calls: &Calls,
    ran: &Ran,
    /// Which tool.
    tool: String,
    /// With which arguments.
    arguments: String,
) -> String {
    let answer = calls.call(&Call::new(tool, arguments)).await;
    if !has_hung(ran) {
        ran.add("hangs");
        crate::support::forever::<()>().await;
    }
    kind(&answer)
}

/// Makes a call after the lease of its own has lapsed.
#[tool(name = "nested_late", effect = idempotent)]
async fn late(calls: &Calls, clock: &Clock) -> Result<String, ToolError> {
    clock.pass(Duration::from_secs(31));
    calls.to(NOTE).with("text", "a").await_as().await
}

/// Is refused until its caller has been lost.
#[tool(name = "nested_checked", validate = async |ran| -> Result<(), ToolError> {
    match has_hung(ran) {
        true => Ok(()),
        false => Err(ToolError::invalid("not yet")),
    }
})]
async fn checked(ran: &Ran) {
    ran.add("checked");
}

fn has_hung(ran: &Ran) -> bool {
    ran.all().iter().any(|it| it == "hangs")
}

fn tools(office: &Office) -> ExecutorBuilder {
    let tools = [NOTE_AND_HANG, TRY_AND_HANG, FICKLE, CHECKED, NOTE, RELAY, REFUND, FAIL];
    let builder = Executor::builder(Registry::of(tools).unwrap()).unrestricted();
    builder.service_arc(Arc::clone(&office.ran))
}

fn builder(office: &Office) -> Executor {
    tools(office).journal(office.parking()).build().unwrap()
}

/// A process makes a call and is killed when the last of these has run.
fn killed_at(
    office: &Office,
    executor: impl FnOnce() -> Executor,
    call: Call<'static>,
    last: &'static str,
) {
    let (executor, ran) = (executor(), Arc::clone(&office.ran));
    let killed = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        // What a dropped call would still do is left to a runtime that is never polled again.
        runtime.block_on(async {
            let reached = || ran.all().iter().any(|it| it == last);
            tokio::select! {
                biased;
                _ = executor.submit(&call) => unreachable!(),
                () = async { while !reached() { tokio::task::yield_now().await } } => {}
            }
        });
    });
    killed.join().unwrap();
}

/// Else the parent would end with an error about a call that may have succeeded before.
#[tokio::test]
async fn a_parent_whose_lease_is_renewed_late_makes_its_calls_all_the_same() {
    let office = office();
    let builder = Executor::builder(Registry::of([LATE, NOTE]).unwrap()).unrestricted();
    let builder = builder.service_arc(Arc::clone(&office.ran)).service(office.clock.clone());
    let journal = office.parking().lease(Duration::from_millis(150));
    let executor = builder.journal(journal).build().unwrap();
    let answer = answered(executor.submit(&Call::new("nested_late", "{}")).await);
    assert_eq!((answer.text().as_ref(), parent(&office).await.epoch), ("a", 1));
}

#[tokio::test]
async fn a_parent_that_runs_again_after_a_crash_gets_what_its_children_have_given() {
    let office = office();
    killed_at(&office, || builder(&office), Call::new("nested_note_and_hang", "{}"), "hangs");
    office.clock.pass(Duration::from_secs(31));
    let worker = builder(&office).worker().unwrap();
    worker.sweep().await.unwrap();
    let parent = parent(&office).await;
    assert_eq!(parent.state, State::Succeeded);
    assert_eq!(parent.answer.as_ref().unwrap().text, "a");
    let notes = office.ran.all().iter().filter(|it| it.starts_with("note")).count();
    assert_eq!(notes, 1, "{:?}", office.ran.all());
    assert_eq!(children(&office, &parent).await.len(), 1);
}

/// Whatever refused it, its parent has gone on with that.
#[tokio::test]
async fn a_child_that_was_refused_is_refused_when_its_parent_runs_again() {
    let cases = [
        ("kept_refund", r#"{"order":"A-1"}"#, "approval_required"),
        ("kept_fail", r#"{"how":"transient"}"#, "unavailable"),
        ("nested_checked", "{}", "invalid_input"),
    ];
    for (tool, arguments, expected) in cases {
        let office = office();
        let breaker = CircuitBreaker::new(1, Duration::from_secs(3600));
        let journal = office.journal().on_no_approver(OnNoApprover::Deny);
        let first = tools(&office).journal(journal).circuit_breaker(breaker).build().unwrap();
        if expected == "unavailable" {
            assert_eq!(kind(&first.call(&Call::new(tool, arguments)).await), "indeterminate");
        }
        let before = office.ran.times();
        killed_at(&office, || first, relayed("nested_try_and_hang", tool, arguments), "hangs");
        office.clock.pass(Duration::from_secs(31));
        builder(&office).worker().unwrap().sweep().await.unwrap();
        let made = office.records().await;
        let parent = made.iter().find(|it| it.tool == "nested_try_and_hang").unwrap();
        assert_eq!(parent.state, State::Succeeded, "{tool}");
        assert_eq!(parent.answer.as_ref().unwrap().text, expected);
        assert_eq!(office.ran.all()[before..], ["hangs"], "{tool} has not run");
        let [child] = &*children(&office, parent).await else { panic!("one child") };
        assert_eq!(child.state, State::Refused, "{tool}");
    }
}

#[tokio::test]
async fn a_child_that_must_not_repeat_and_whose_outcome_is_unknown_makes_its_parent_wait() {
    let office = office();
    let call = relayed("nested_relay", "kept_hang", "{}");
    killed_at(&office, || executor(&office), call, "hang");
    office.clock.pass(Duration::from_secs(31));
    let worker = executor(&office).worker().unwrap();
    worker.sweep().await.unwrap();
    let waits = parent(&office).await;
    let [child] = &*children(&office, &waits).await else { panic!("one child") };
    assert_eq!((waits.state, child.state), (State::Waiting, State::Indeterminate));
    let statement =
        toolwright::approval::Statement::happened(child, "it hung", "ada", office.clock.now());
    office.say(statement).await.unwrap();
    worker.sweep().await.unwrap();
    assert_eq!(parent(&office).await.answer.unwrap().text, "it hung");
    assert_eq!(office.ran.all().iter().filter(|it| *it == "hang").count(), 1);
}

#[tokio::test]
async fn a_parent_that_must_not_repeat_is_indeterminate_and_its_child_stays_as_it_is() {
    let office = office();
    let call = relayed("nested_once", "kept_refund", r#"{"order":"A-1"}"#);
    let (asked, ran) = (executor(&office), Arc::clone(&office.ran));
    let killed = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            tokio::select! {
                biased;
                _ = asked.submit(&call) => unreachable!(),
                () = tokio::time::sleep(Duration::from_millis(50)) => {}
            }
        });
    });
    killed.join().unwrap();
    assert_eq!(ran.all(), ["once"]);
    office.clock.pass(Duration::from_secs(31));
    let worker = executor(&office).worker().unwrap();
    worker.sweep().await.unwrap();
    let unclear = parent(&office).await;
    let [child] = &*children(&office, &unclear).await else { panic!("one child") };
    assert_eq!((unclear.state, child.state), (State::Indeterminate, State::Pending));
    office.approve(child.id).await.unwrap();
    worker.sweep().await.unwrap();
    assert_eq!(office.state(child.id).await, State::Ready, "its parent does not run");
    assert_eq!(ran.all(), ["once"]);
}

#[tokio::test]
async fn a_parent_that_makes_other_calls_than_before_runs_none_of_them() {
    let office = office();
    let (executor, call) = (builder(&office), Call::new("nested_fickle", "{}"));
    let time_passes = async {
        loop {
            office.clock.pass(Duration::from_millis(1));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let answer = tokio::select! {
        outcome = executor.submit(&call) => answered(outcome),
        () = time_passes => unreachable!(),
    };
    assert_eq!(kind(&answer), "other_child");
    let notes: Vec<String> =
        office.ran.all().into_iter().filter(|it| it.starts_with("note")).collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
}

#[tokio::test]
async fn a_worker_calls_for_a_run_what_that_run_was_shown_and_nothing_else() {
    let office = office();
    let shown = |executor: &Executor, without: &str| {
        executor.catalog().select(&Profile::new(["*", &format!("!{without}")]).unwrap()).unwrap()
    };
    // A worker that is shown every tool itself calls for a run what that run was shown as well.
    let cases = [
        ("kept_hang", false, "ok"),
        ("kept_note", false, "unknown_tool"),
        ("kept_hang", true, "ok"),
        ("kept_note", true, "unknown_tool"),
    ];
    for (without, is_pinned, expected) in cases {
        let first = executor(&office);
        let run = first.run("r").start().unwrap().pinned(&shown(&first, without));
        // Its first attempt is lost before it has called anything.
        let call = relayed("nested_relay", "kept_note", r#"{"text":"a"}"#);
        let ran = office.ran.times();
        let lost = std::thread::spawn({
            let ran_by_then = Arc::clone(&office.ran);
            move || {
                let runtime =
                    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async {
                    tokio::select! {
                        biased;
                        () = async { while ran_by_then.times() == ran { tokio::task::yield_now().await } } => {}
                        _ = run.submit(&call) => {}
                    }
                });
            }
        });
        lost.join().unwrap();
        let made = office.records().await;
        let made = made.iter().rfind(|it| it.parent.is_none()).unwrap();
        if made.answer.is_none() {
            office.clock.pass(Duration::from_secs(31));
            let other = executor(&office);
            let worker = match is_pinned {
                true => other.pinned(&other.catalog()).worker().unwrap(),
                false => other.worker().unwrap(),
            };
            worker.sweep().await.unwrap();
        }
        let made = office.record(made.id).await;
        let answer = made.answer.unwrap();
        assert_eq!(answer.is_error, expected != "ok", "{}", answer.text);
        assert!(answer.text.contains(expected) || expected == "ok", "{}", answer.text);
    }
}

#[tokio::test]
async fn the_error_of_a_child_is_final_for_its_parent() {
    let office = office();
    let call = relayed("nested_relay", "kept_fail", r#"{"how":"ordinary"}"#);
    let answer = answered(executor(&office).submit(&call).await);
    assert_eq!(kind(&answer), "wrong");
    assert_eq!(parent(&office).await.state, State::Failed);
}
