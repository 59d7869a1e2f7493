//! A turn that waits for decisions: one answer for each call, in call order, and whether the run can end.

use std::sync::Arc;
use std::time::Duration;

use toolwright::journal::{Filter, Journal, Page, State, Store};
use toolwright::policy::Policy;
use toolwright::{
    Call, CallFailure, CancellationToken, Executor, OnNoApprover, Outcome, Registry, TurnAnswers,
    tool,
};

use super::support::{Office, a_refund, answered, office};
use crate::support::kind;

fn a_note(text: &str) -> Call<'static> {
    Call::new("kept_note", format!(r#"{{"text":"{text}"}}"#))
}

fn texts(turn: TurnAnswers) -> Vec<String> {
    turn.into_iter().map(|answer| answer.text().into_owned()).collect()
}

/// The calls that wait for a person, in the order in which they were made.
async fn pending(office: &Office, calls: usize) -> Vec<toolwright::CallId> {
    let filter = Filter { states: vec![State::Pending], ..Filter::default() };
    loop {
        let records = office.store.list(&filter, Page::first(9)).await.unwrap().calls;
        if records.len() == calls {
            let mut places: Vec<_> = records.iter().map(|it| (it.place.index, it.id)).collect();
            places.sort();
            return places.into_iter().map(|(_, id)| id).collect();
        }
        tokio::task::yield_now().await;
    }
}

/// Ends the conversation.
#[tool(name = "kept_finish", terminal, effect = idempotent)]
async fn finish(
    /// Whether it can.
    succeeds: bool,
) -> Result<&'static str, toolwright::ToolError> {
    match succeeds {
        true => Ok("finished"),
        false => Err(toolwright::ToolError::new("unfinished", "something is left to do")),
    }
}

/// Ends the conversation when a person agrees.
#[tool(name = "kept_close", terminal, effect = idempotent, approval = "it ends the conversation")]
async fn close() -> &'static str {
    "closed"
}

/// Looks and ends nothing.
#[tool(name = "kept_peek", effect = read)]
async fn peek() -> u32 {
    7
}

fn finishing() -> Executor {
    let registry = Registry::of([FINISH, CLOSE, PEEK]).unwrap();
    Executor::builder(registry).unrestricted().build().unwrap()
}

fn a_finish(succeeds: bool) -> Call<'static> {
    Call::new("kept_finish", format!(r#"{{"succeeds":{succeeds}}}"#))
}

#[tokio::test]
async fn a_turn_waits_for_every_decision_and_answers_in_call_order() {
    let office = office();
    let run = office.executor().run("r").start().unwrap();
    let calls = [a_refund(), a_note("a"), Call::new("kept_refund", r#"{"order":"B-2"}"#)];
    let decisions = async {
        let waits = pending(&office, 2).await;
        assert_eq!(office.ran.times(), 1, "the note ran, and nothing that waits");
        office.approve(waits[1]).await.unwrap();
        while office.ran.times() < 2 {
            tokio::task::yield_now().await;
        }
        office.reject(waits[0], "too much").await.unwrap();
    };
    let (turn, ()) = tokio::join!(run.turn(1, &calls), decisions);
    let turn = turn.unwrap();
    let kinds: Vec<_> = turn.answers().iter().map(kind).collect();
    assert_eq!(kinds, ["rejected", "ok", "ok"]);
    assert_eq!(turn.answers()[2].text(), "refunded 100 for B-2");
    assert_eq!(turn.terminal_call(), None);
}

#[tokio::test]
async fn a_turn_without_a_journal_answers_in_call_order_and_never_fails() {
    let executor = finishing();
    let calls = [
        Call::new("kept_peek", "{}").id("x"),
        Call::new("unheard_of", "{}"),
        Call::new("kept_close", "{}"),
        Call::new("kept_peek", "{}").id("x"),
    ];
    let turn = executor.run("r").start().unwrap().turn(1, &calls).await.unwrap();
    let kinds: Vec<_> = turn.answers().iter().map(kind).collect();
    assert_eq!(kinds, ["ok", "unknown_tool", "approval_required", "repeated_call_id"]);
    assert_eq!((turn.terminal_call(), turn.terminal_answer().is_none()), (None, true));
}

#[tokio::test]
async fn a_turn_names_the_first_terminal_call_that_succeeded() {
    let executor = finishing();
    let peek = || Call::new("kept_peek", "{}");
    for (calls, expected) in [
        (vec![peek()], None),
        (vec![a_finish(false), peek()], None),
        (vec![peek(), a_finish(false), a_finish(true), a_finish(true)], Some(2)),
    ] {
        let turn = executor.run("r").start().unwrap().turn(1, &calls).await.unwrap();
        assert_eq!(turn.terminal_call(), expected);
        assert_eq!(turn.answers().len(), calls.len());
        let answer = turn.terminal_answer().map(|it| it.text().into_owned());
        assert_eq!(answer.as_deref(), expected.map(|_| "finished"));
    }
}

/// A terminal tool whose call waits ends the run when a person has approved it, and not where one rejected it.
#[tokio::test]
async fn a_terminal_call_that_a_person_decides_counts_when_it_has_succeeded() {
    for (approves, expected) in [(true, Some(0)), (false, None)] {
        let office = office();
        let registry = Registry::of([CLOSE, PEEK]).unwrap();
        let clock = office.clock.clone();
        let executor = Executor::builder(registry)
            .unrestricted()
            .journal(
                Journal::new(office.store.clone())
                    .clock(move || clock.now())
                    .trust("ada", office.ada.public())
                    .on_no_approver(OnNoApprover::Park),
            )
            .build()
            .unwrap();
        let decision = async {
            let waits = pending(&office, 1).await[0];
            match approves {
                true => office.approve(waits).await.unwrap(),
                false => office.reject(waits, "not yet").await.unwrap(),
            }
        };
        let calls = [Call::new("kept_close", "{}")];
        let run = executor.run("r").start().unwrap();
        let (turn, _) = tokio::join!(run.turn(1, &calls), decision);
        assert_eq!(turn.unwrap().terminal_call(), expected);
        // Made again, the turn says the same.
        assert_eq!(run.turn(1, &calls).await.unwrap().terminal_call(), expected);
    }
}

#[tokio::test]
async fn a_terminal_call_that_is_only_planned_has_not_succeeded() {
    let office = office();
    let clock = office.clock.clone();
    let executor = Executor::builder(Registry::of([FINISH, PEEK]).unwrap())
        .policy(Policy::builder().plan(true))
        .journal(
            Journal::new(office.store.clone())
                .clock(move || clock.now())
                .on_no_approver(OnNoApprover::Park),
        )
        .build()
        .unwrap();
    let turn = executor.run("r").start().unwrap().turn(1, &[a_finish(true)]).await.unwrap();
    assert_eq!(kind(&turn.answers()[0]), "ok");
    assert_eq!(turn.terminal_call(), None);
}

#[tokio::test]
async fn a_turn_whose_place_is_taken_fails_and_the_model_is_answered_nothing() {
    let office = office();
    let run = office.executor().run("r").start().unwrap();
    run.turn(1, &[a_note("a")]).await.unwrap();
    let failure = run.turn(1, &[a_note("b")]).await.unwrap_err();
    assert!(matches!(failure, CallFailure::PlaceTaken { .. }), "{failure}");
    assert_eq!(office.ran.times(), 1);
}

#[tokio::test]
async fn a_turn_that_a_shutdown_cuts_short_goes_on_where_it_is_made_again() {
    let office = office();
    let first = office.executor();
    let run = first.run("r").start().unwrap();
    let calls = [a_note("a"), a_refund()];
    let shutdown = async {
        let waits = pending(&office, 1).await[0];
        let _ = first.drain(Duration::from_secs(1)).await;
        waits
    };
    let (turn, waits) = tokio::join!(run.turn(1, &calls), shutdown);
    let failure = turn.unwrap_err();
    assert!(
        matches!(failure, CallFailure::ShuttingDown { call, .. } if call == waits),
        "{failure}"
    );
    assert_eq!(office.state(waits).await, State::Pending);
    office.approve(waits).await.unwrap();
    let again = office.executor().run("r").start().unwrap().turn(1, &calls).await.unwrap();
    assert_eq!(texts(again), ["a", "refunded 100 for A-1"]);
    assert_eq!(office.ran.times(), 2);
}

#[tokio::test]
async fn a_turn_whose_run_is_given_up_answers_that_its_calls_are_cancelled() {
    let office = office();
    let token = CancellationToken::new();
    let run = office.executor().run("r").cancelled_by(token.clone()).start().unwrap();
    let cancel = async {
        let waits = pending(&office, 1).await[0];
        token.cancel();
        waits
    };
    let calls = [a_note("a"), a_refund()];
    let (turn, waits) = tokio::join!(run.turn(1, &calls), cancel);
    let kinds: Vec<_> = turn.unwrap().answers().iter().map(kind).collect();
    assert_eq!(kinds, ["ok", "cancelled"]);
    assert_eq!(office.state(waits).await, State::Cancelled);
}

/// A crash cut the call short: only a person can find out what became of it, and the turn does not wait for them.
#[tokio::test]
async fn a_turn_answers_a_call_of_which_nobody_knows_whether_it_happened() {
    let office = office();
    let run = office.executor().run("r").start().unwrap();
    let calls = [Call::new("kept_hang", "{}")];
    let mut cut = Box::pin(run.turn(1, &calls));
    while office.ran.times() == 0 {
        assert!(futures::poll!(&mut cut).is_pending());
    }
    drop(cut);
    let turn = run.turn(1, &calls).await.unwrap();
    assert_eq!(kind(&turn.answers()[0]), "indeterminate");
    assert_eq!(office.ran.times(), 1);
}

/// Outside of the crate, without an arm for kinds of outcome that there are not.
#[tokio::test]
async fn an_outcome_is_matched_by_three_arms() {
    let office = Arc::new(office());
    let outcome = office.executor().submit(&a_note("a")).await;
    let text = match outcome {
        Outcome::Answered(answer) => answer.text().into_owned(),
        Outcome::Suspended(waits) => waits.to_string(),
        Outcome::Failed(failure) => failure.to_string(),
    };
    assert_eq!(text, "a");
    assert_eq!(answered(office.executor().submit(&a_note("b")).await).text(), "b");
}
