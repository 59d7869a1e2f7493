//! What is said of dead letters and of planned calls.

use std::sync::Arc;

use toolwright::approval::{ApprovalError, ApprovalService, Decision, Statement};
use toolwright::journal::{
    AnswerRecord, CallRecord, FailedAttempt, Failure, SqliteStore, State, Store, StoredText,
    Transaction, Transition,
};
use toolwright::repair::{Change, ChangeRule};

use super::scene::{at, call_of, happens, journal, pending, service, signed};

/// A call that failed for good.
fn dead() -> CallRecord {
    let failed = FailedAttempt {
        attempt: 1,
        at: at(2),
        failure: Failure::Unknown,
        kind: "panicked".to_owned(),
        message: Some("`send_mail` failed for eve@example.org".to_owned()),
        cause: Some("no route to eve@example.org".to_owned()),
    };
    let change = Change {
        pointer: "/to".to_owned(),
        rule: ChangeRule::Integer,
        from: "\"eve@example.org\"".to_owned(),
        to: "\"eve@example.org\"".to_owned(),
    };
    pending(1).with(|it| {
        it.state = State::Dead;
        it.attempt = 1;
        it.epoch = 1;
        it.repairs = vec![change];
        it.failures = vec![failed];
        it.answer = Some(AnswerRecord::error("panicked", "it failed", None));
        it.result = Some(AnswerRecord::error("panicked", "eve@example.org is unknown", None));
    })
}

fn planned() -> CallRecord {
    pending(1).with(|it| {
        it.state = State::Planned;
        it.answer = Some(AnswerRecord::text("queued for approval"));
    })
}

#[tokio::test]
async fn an_accepted_call_is_judged_and_its_run_keeps_its_answer() {
    let store = journal([planned()]).await;
    let accept = signed(&Statement::accept(&planned(), "ada", at(5)));
    let submitted = service(&store).submit(accept.clone(), at(5)).await.expect("accepted");
    assert_eq!((submitted.to, submitted.verdict), (Some(State::Judging), Decision::Accept));
    let now = call_of(&store, planned().id).await;
    assert_eq!((now.generation, &now.decision), (2, &None), "it is no approval");
    assert_eq!((now.answer, now.ask), (planned().answer, planned().ask));
    let again = service(&store).submit(accept, at(6)).await.expect("accepted before");
    assert!(again.repeated);
}

#[tokio::test]
async fn a_planned_call_that_nobody_wants_is_rejected() {
    let store = journal([planned()]).await;
    let reject = Statement::reject(&planned(), Some("too risky".to_owned()), "ada", at(5));
    service(&store).submit(signed(&reject), at(5)).await.expect("rejected");
    let now = call_of(&store, planned().id).await;
    assert_eq!((now.state, &now.answer), (State::Rejected, &planned().answer));
    assert!(now.result.expect("what came of it").text.contains("too risky"));
    let accept = signed(&Statement::accept(&planned(), "bob", at(6)));
    let error = service(&store).submit(accept, at(6)).await.expect_err("too late");
    assert!(matches!(&error, ApprovalError::Decided { who, .. } if who == "ada"), "{error}");
}

/// Its deadline is that of a question nobody was asked.
#[tokio::test]
async fn a_planned_call_does_not_expire() {
    let store = journal([planned()]).await;
    let accept = signed(&Statement::accept(&planned(), "ada", at(5)));
    assert!(service(&store).submit(accept, at(900_000)).await.is_ok());
}

#[tokio::test]
async fn a_requeued_call_keeps_its_key_until_its_application_has_judged_it() {
    for new_key in [false, true] {
        let store = journal([dead()]).await;
        let requeue = signed(&Statement::requeue(&dead(), new_key, "ada", at(5)));
        service(&store).submit(requeue.clone(), at(5)).await.expect("requeued");
        let now = call_of(&store, dead().id).await;
        assert_eq!((now.state, now.generation, now.proposal), (State::Judging, 2, None));
        assert_eq!((now.idempotency_key, now.answer), (dead().idempotency_key, dead().answer));
        let history = store.history(dead().id).await.expect("a history");
        assert_eq!(history.last().expect("an entry").signed, Some(requeue));
    }
}

#[tokio::test]
async fn an_edited_requeue_is_a_proposal() {
    let store = journal([dead()]).await;
    let arguments = r#"{"to":"bob@example.org"}"#;
    let requeue = Statement::requeue_with(&dead(), arguments, "ada", at(5));
    service(&store).submit(signed(&requeue), at(5)).await.expect("requeued");
    let now = call_of(&store, dead().id).await;
    assert_eq!((now.proposal.as_deref(), now.arguments), (Some(arguments), dead().arguments));

    let store = journal([dead()]).await;
    let nonsense = Statement::requeue_with(&dead(), "[1]", "ada", at(5));
    let error = service(&store).submit(signed(&nonsense), at(5)).await.expect_err("no object");
    assert!(matches!(error, ApprovalError::Arguments { .. }), "{error}");
}

/// The statement stands in the history in plain text.
#[tokio::test]
async fn no_new_arguments_are_given_to_a_call_with_secrets() {
    for arguments in [StoredText::Omitted, StoredText::Encrypted("00".to_owned())] {
        let sealed = dead().with(|it| it.arguments = arguments);
        let store = journal([sealed.clone()]).await;
        let requeue = Statement::requeue_with(&sealed, r#"{"password":"x"}"#, "ada", at(5));
        let error = service(&store).submit(signed(&requeue), at(5)).await.expect_err("a secret");
        assert_eq!(error, ApprovalError::Secrets { call: sealed.id });
        assert_eq!(call_of(&store, sealed.id).await, sealed);
        let as_it_is = Statement::requeue(&sealed, false, "ada", at(5));
        let unseen = service(&store).unseen();
        assert!(unseen.submit(signed(&as_it_is), at(5)).await.is_ok());
    }
}

#[tokio::test]
async fn a_discarded_call_keeps_everything_and_the_note() {
    let store = journal([dead()]).await;
    let discard = Statement::discard(&dead(), Some("done by hand".to_owned()), "ada", at(5));
    service(&store).submit(signed(&discard), at(5)).await.expect("discarded");
    let now = call_of(&store, dead().id).await;
    assert_eq!(now.state, State::Discarded);
    assert_eq!((&now.raw, &now.shown), (&dead().raw, &dead().shown));
    assert_eq!((&now.failures, &now.answer), (&dead().failures, &dead().answer));
    let history = store.history(dead().id).await.expect("a history");
    assert_eq!(history.last().expect("an entry").why.as_deref(), Some("done by hand"));
}

#[tokio::test]
async fn a_forgotten_call_says_nothing_of_what_it_was_called_with() {
    let store = journal([dead()]).await;
    let forget = signed(&Statement::forget(&dead(), None, "ada", at(5)));
    service(&store).submit(forget.clone(), at(5)).await.expect("forgotten");
    let now = call_of(&store, dead().id).await;
    assert_eq!((now.state, &now.answer), (State::Discarded, &dead().answer));
    assert_eq!((&now.digest, now.failures[0].kind.as_str()), (&dead().digest, "panicked"));
    let text = serde_json::to_string(&now).expect("JSON");
    assert!(!text.contains("eve@example.org"), "{text}");
    let history = store.history(dead().id).await.expect("a history");
    assert_eq!(history.len(), 2);
    let again = service(&store).submit(forget, at(6)).await.expect("forgotten before");
    assert!(again.repeated);
}

#[tokio::test]
async fn nothing_but_a_dead_call_is_requeued_or_discarded() {
    for state in State::ALL.into_iter().filter(|state| *state != State::Dead) {
        let record = dead().with(|it| it.state = state);
        let store = journal([record.clone()]).await;
        let statements = [
            Statement::requeue(&record, false, "ada", at(5)),
            Statement::discard(&record, None, "ada", at(5)),
            Statement::forget(&record, None, "ada", at(5)),
        ];
        for statement in statements {
            let error = service(&store).submit(signed(&statement), at(5)).await;
            let error = error.expect_err("it is not dead");
            assert!(matches!(error, ApprovalError::Elsewhere { .. }), "{state}: {error}");
        }
        assert_eq!(call_of(&store, record.id).await, record);
    }
}

#[tokio::test]
async fn nothing_but_a_planned_call_is_accepted() {
    for state in State::ALL.into_iter().filter(|state| *state != State::Planned) {
        let record = pending(1).with(|it| it.state = state);
        let store = journal([record.clone()]).await;
        let accept = signed(&Statement::accept(&record, "ada", at(5)));
        let error = service(&store).submit(accept, at(5)).await.expect_err("it is not planned");
        assert!(matches!(error, ApprovalError::Elsewhere { .. }), "{state}: {error}");
    }
}

/// A dead letter that died again is another than the one that was looked at.
#[tokio::test]
async fn a_requeue_of_an_earlier_death_is_told_what_moved_the_call_on() {
    let store = journal([dead()]).await;
    let first = signed(&Statement::requeue(&dead(), false, "ada", at(5)));
    service(&store).submit(first, at(5)).await.expect("requeued");
    for event in [Transition::PutBack, Transition::Requeued, Transition::PutBack] {
        assert!(happens(&store, dead().id, event, at(6)).await);
    }
    let late = signed(&Statement::discard(&dead(), None, "bob", at(7)));
    let error = service(&store).submit(late, at(7)).await.expect_err("another generation");
    assert!(matches!(&error, ApprovalError::Decided { who, .. } if who == "ada"), "{error}");
    let late = dead().with(|it| it.generation = 2);
    let late = signed(&Statement::requeue(&late, false, "bob", at(7)));
    let error = service(&store).submit(late, at(7)).await.expect_err("another generation");
    assert!(matches!(error, ApprovalError::Generation { found: 3, .. }), "{error}");
}

/// Two approval services at one file, as two processes are.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_a_requeue_and_a_discard_at_once_one_wins_and_the_other_is_told() {
    for round in 0..12 {
        let folder = folder(round);
        let path = folder.0.join("calls.db");
        let one = SqliteStore::open(&path).await.expect("a file");
        let other = SqliteStore::open(&path).await.expect("the same file");
        let record = dead();
        let note = toolwright::journal::Note {
            who: "agent:run-1".to_owned(),
            at: at(0),
            why: None,
            signed: None,
        };
        let entries = vec![record.opened(note)];
        let write = toolwright::journal::CallWrite { expects: None, record, entries };
        let unit = Transaction { calls: vec![write], documents: Vec::new() };
        one.commit(unit, at(0)).await.expect("a call");

        let statements = [
            (one.clone(), Statement::requeue(&dead(), false, "ada", at(5))),
            (other.clone(), Statement::forget(&dead(), None, "bob", at(5))),
            (one.clone(), Statement::requeue_with(&dead(), "{}", "bob", at(5))),
            (other, Statement::requeue(&dead(), true, "ada", at(5))),
        ];
        let saying = statements.map(|(store, statement)| {
            let signed = signed(&statement);
            tokio::spawn(async move {
                ApprovalService::new(Arc::new(store)).submit(signed, at(6)).await
            })
        });
        let mut outcomes = Vec::new();
        for said in saying {
            outcomes.push(said.await.expect("no panic"));
        }
        let won: Vec<_> = outcomes.iter().flatten().collect();
        let [won] = won.as_slice() else { panic!("{outcomes:?}") };
        for lost in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
            let ApprovalError::Decided { who, verdict, .. } = lost else { panic!("{lost}") };
            assert_eq!((who, &**verdict), (&won.who, &won.verdict));
        }
        let now = one.get(dead().id).await.expect("a store").expect("a call");
        assert_eq!((Some(now.state), now.version), (won.to, 2));
    }
}

struct Folder(std::path::PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn folder(round: u32) -> Folder {
    let name = format!("toolwright-letters-{}-{round}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir(&folder).expect("a folder");
    Folder(folder)
}
