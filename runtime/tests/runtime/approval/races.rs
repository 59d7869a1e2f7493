//! Many at once: one wins, and all others are told who.

use std::sync::Arc;

use toolwright::approval::{
    ApprovalError, ApprovalService, Decision, SignedStatement, Statement, SubmitOutcome,
};
use toolwright::journal::{CallRecord, MemoryStore, State, Store, Transition};

use super::scene::{at, call_of, happens, journal, pending};

/// How often each race is run.
const ROUNDS: u8 = 60;

/// Trusts nobody: what is raced for is the journal, and signatures would only slow it down.
fn service(store: &MemoryStore) -> ApprovalService {
    ApprovalService::new(Arc::new(store.clone()))
}

fn unsigned(statement: &Statement) -> SignedStatement {
    let text = serde_json::to_string(statement).expect("JSON");
    SignedStatement { text, key: statement.by.clone(), signature: String::new() }
}

type Outcome = Result<SubmitOutcome, ApprovalError>;

/// Submits all of them at once.
async fn race(store: &MemoryStore, statements: Vec<Statement>) -> Vec<Outcome> {
    let tasks: Vec<_> = statements
        .into_iter()
        .map(|statement| {
            let service = service(store);
            tokio::spawn(async move { service.submit(unsigned(&statement), at(9)).await })
        })
        .collect();
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await.expect("no panic"));
    }
    outcomes
}

fn is_win(outcome: &Outcome) -> bool {
    outcome.as_ref().is_ok_and(|submitted| !submitted.repeated)
}

/// Exactly one won, and every other names it.
async fn one_won(store: &MemoryStore, record: &CallRecord, outcomes: &[Outcome]) {
    assert_eq!(outcomes.iter().filter(|outcome| is_win(outcome)).count(), 1, "{outcomes:?}");
    let winner = outcomes.iter().find(|outcome| is_win(outcome)).expect("one");
    let winner = winner.as_ref().expect("a win");
    for outcome in outcomes {
        match outcome {
            Ok(same) => assert_eq!((&same.who, &same.verdict), (&winner.who, &winner.verdict)),
            Err(ApprovalError::Decided { who, verdict, at, .. }) => {
                assert_eq!((who, &**verdict, at), (&winner.who, &winner.verdict, &winner.at));
            }
            Err(error) => panic!("{error}"),
        }
    }
    let history = store.history(record.id).await.expect("a history");
    assert_eq!(history.iter().filter(|entry| entry.signed.is_some()).count(), 1);
    assert_eq!(call_of(store, record.id).await.version, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_same_approval_many_times_is_one() {
    for _ in 0..ROUNDS {
        let (store, record) = (journal([pending(1)]).await, pending(1));
        let approval = Statement::approve(&record, "ada", at(5));
        let outcomes = race(&store, vec![approval; 16]).await;
        one_won(&store, &record, &outcomes).await;
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_approvals_rejections_and_edits_one_wins_and_all_others_are_told() {
    for _ in 0..ROUNDS {
        let (store, record) = (journal([pending(1)]).await, pending(1));
        let mut statements = Vec::new();
        for number in 0..4 {
            for by in ["ada", "bob"] {
                let reason = Some(format!("reason {number}"));
                let arguments = format!(r#"{{"number":{number}}}"#);
                statements.push(Statement::approve(&record, by, at(number)));
                statements.push(Statement::reject(&record, reason, by, at(number)));
                statements.push(Statement::edit(&record, arguments, "d", by, at(number)));
            }
        }
        let outcomes = race(&store, statements).await;
        one_won(&store, &record, &outcomes).await;
        let winner = outcomes.iter().find(|outcome| is_win(outcome)).expect("one");
        let expected = match winner.as_ref().expect("a win").verdict {
            Decision::Approve { .. } => State::Ready,
            Decision::Reject { .. } => State::Rejected,
            _ => State::Judging,
        };
        assert_eq!(call_of(&store, record.id).await.state, expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_approval_and_an_expiry_never_both_happen() {
    for _ in 0..ROUNDS {
        let (store, record) = (journal([pending(1)]).await, pending(1));
        let expiry = {
            let (store, call) = (store.clone(), record.id);
            tokio::spawn(async move { happens(&store, call, Transition::Expired, at(9)).await })
        };
        let approvals = (0..4).map(|number| Statement::approve(&record, "ada", at(number)));
        let outcomes = race(&store, approvals.collect()).await;
        let now = call_of(&store, record.id).await;
        if expiry.await.expect("no panic") {
            assert_eq!(now.state, State::Expired);
            for outcome in outcomes {
                let error = outcome.expect_err("expired");
                assert!(
                    matches!(&error, ApprovalError::Elsewhere { who, .. } if who == "executor:one")
                );
                assert!(error.to_string().contains("was expired by"), "{error}");
            }
        } else {
            assert_eq!(now.state, State::Ready);
            one_won(&store, &record, &outcomes).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_grant_is_given_once_however_many_give_it() {
    for _ in 0..ROUNDS {
        let (store, record) = (journal([pending(1)]).await, pending(1));
        let give = |by| Statement::approve_with_grant(&record, super::scene::terms(), by, at(5));
        let statements = [vec![give("ada"); 6], vec![give("bob"); 6]].concat();
        let outcomes = race(&store, statements).await;
        one_won(&store, &record, &outcomes).await;
        let grants = service(&store).grants(None).await.expect("grants").readable;
        let decision = call_of(&store, record.id).await.decision.expect("decided");
        assert_eq!(grants.iter().map(|grant| &grant.signed).collect::<Vec<_>>(), [&decision]);
    }
}
