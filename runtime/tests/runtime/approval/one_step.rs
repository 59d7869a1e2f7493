//! Decisions that load the call, check it, sign and submit in one step; and the check that each of them shares.

use toolwright::approval::{
    ApprovalError, ApprovalRequest, ApprovalService, Decision, ShownCall, Statement, Subject,
    SubmitOutcome,
};
use toolwright::journal::{
    AnswerRecord, CallRecord, CallWrite, MemoryStore, State, Store, StoredText, Transaction,
};

use super::scene::{at, call_of, journal, key, pending, service, signed, terms};

fn now_is(store: &MemoryStore, seconds: i64) -> ApprovalService {
    service(store).clock(move || at(seconds))
}

/// The call in a state, and the journal that it is in.
async fn stands(state: State) -> (MemoryStore, CallRecord) {
    let record = pending(1).with(|it| {
        it.state = state;
        if state.is_answered() {
            it.answer = Some(AnswerRecord::error("panicked", "it failed", None));
        }
    });
    (journal([record.clone()]).await, record)
}

/// Changes the record without a word in its history, as somebody does who can write to the journal.
async fn tamper(store: &MemoryStore, change: impl FnOnce(&mut CallRecord)) -> CallRecord {
    let record = call_of(store, pending(1).id).await;
    let expects = Some(record.version);
    let record = record.with(change).with(|it| it.version += 1);
    let calls = vec![CallWrite { expects, record: record.clone(), entries: Vec::new() }];
    store.commit(Transaction { calls, documents: Vec::new() }, at(0)).await.expect("tampered");
    record
}

/// Other arguments would run, by their own digest, than are shown.
fn other_arguments(record: &mut CallRecord) {
    let other = r#"{"to":"mallory@example.org"}"#;
    record.arguments = StoredText::Plain(other.to_owned());
    record.digest = record.digest_with(other);
}

#[tokio::test]
async fn each_decision_on_a_call_that_waits_is_made_in_one_step() {
    let (ada, edited) = (key("ada"), r#"{ "to": "bob@example.org" }"#);
    let of_edited = pending(1).digest_with(r#"{"to":"bob@example.org"}"#);
    let decided = async |what: &str| {
        let (store, record) = stands(State::Pending).await;
        let service = now_is(&store, 5);
        let submitted = match what {
            "approve" => service.approve(record.id, &ada).await,
            "grant" => service.grant(record.id, terms(), &ada).await,
            "edit" => service.edit(record.id, edited, &ada).await,
            _ => service.reject(record.id, Some("too much".to_owned()), &ada).await,
        }
        .expect("decided");
        let (digest, shown) = (record.digest.clone(), record.shown_digest());
        let subject = Subject::Call { id: record.id, generation: 1, digest, shown };
        assert_eq!((&submitted.about, submitted.who.as_str()), (&subject, "ada"));
        assert_eq!((submitted.at, submitted.repeated), (at(5), false));
        let now = call_of(&store, record.id).await;
        assert_eq!(submitted.to, Some(now.state));
        (submitted.verdict, now)
    };
    let (verdict, now) = decided("approve").await;
    assert_eq!((verdict, now.state), (Decision::Approve { grant: None }, State::Ready));
    let (verdict, now) = decided("grant").await;
    assert_eq!((verdict, now.state), (Decision::Approve { grant: Some(terms()) }, State::Ready));
    let (verdict, now) = decided("edit").await;
    let edit = Decision::Edit { arguments: edited.to_owned(), digest: of_edited };
    assert_eq!((verdict, now.state, now.generation), (edit, State::Judging, 2));
    let (verdict, now) = decided("reject").await;
    let reject = Decision::Reject { reason: Some("too much".to_owned()) };
    assert_eq!((verdict, now.state), (reject, State::Rejected));
}

#[tokio::test]
async fn what_else_is_said_of_a_call_is_said_in_one_step() {
    use State::{Dead, Discarded, Indeterminate, Judging, Planned, Succeeded};

    let bob = key("bob");
    let said = async |state: State, what: &str| -> (Decision, State) {
        let (store, record) = stands(state).await;
        let (service, id) = (now_is(&store, 5), record.id);
        let submitted = match what {
            "accept" => service.accept(id, &bob).await,
            "happened" => service.happened(id, "sent", &bob).await,
            "did not happen" => service.did_not_happen(id, &bob).await,
            "requeue" => service.requeue(id, true, &bob).await,
            "requeue with" => service.requeue_with(id, r#"{"to":"x"}"#, &bob).await,
            "discard" => service.discard(id, None, &bob).await,
            _ => service.forget(id, None, &bob).await,
        }
        .expect(what);
        (submitted.verdict, call_of(&store, id).await.state)
    };
    assert_eq!(said(Planned, "accept").await, (Decision::Accept, Judging));
    let happened = Decision::Happened { result: "sent".to_owned() };
    assert_eq!(said(Indeterminate, "happened").await, (happened, Succeeded));
    let did_not = said(Indeterminate, "did not happen").await;
    assert_eq!(did_not, (Decision::DidNotHappen, Judging));
    let requeue = Decision::Requeue { arguments: None, new_key: true };
    assert_eq!(said(Dead, "requeue").await, (requeue, Judging));
    let arguments = Some(r#"{"to":"x"}"#.to_owned());
    let requeue = Decision::Requeue { arguments, new_key: false };
    assert_eq!(said(Dead, "requeue with").await, (requeue, Judging));
    let discard = |forget| (Decision::Discard { note: None, forget }, Discarded);
    assert_eq!(said(Dead, "discard").await, discard(false));
    assert_eq!(said(Dead, "forget").await, discard(true));
}

#[tokio::test]
async fn a_grant_is_revoked_in_one_step() {
    let (store, record) = stands(State::Pending).await;
    let service = now_is(&store, 5);
    let grant = service.grant(record.id, terms(), &key("ada")).await.expect("granted").grant;
    let revoked = service.revoke(grant.expect("an id"), &key("bob")).await.expect("revoked");
    assert_eq!((revoked.verdict, revoked.who.as_str()), (Decision::Revoke, "bob"));
    assert!(service.grants(None).await.expect("grants").readable[0].revoked.is_some());
}

#[tokio::test]
async fn no_decision_lets_a_call_run_whose_record_shows_other_arguments() {
    type Said = Result<SubmitOutcome, ApprovalError>;

    let ada = key("ada");
    let altered = async |state: State, what: &str| -> (Said, State) {
        let (store, record) = stands(state).await;
        tamper(&store, other_arguments).await;
        let (service, id) = (now_is(&store, 5), record.id);
        let said = match what {
            "approve" => service.approve(id, &ada).await,
            "grant" => service.grant(id, terms(), &ada).await,
            "accept" => service.accept(id, &ada).await,
            "did not happen" => service.did_not_happen(id, &ada).await,
            "requeue" => service.requeue(id, false, &ada).await,
            "reject" => service.reject(id, None, &ada).await,
            "edit" => service.edit(id, r#"{"to":"x"}"#, &ada).await,
            _ => service.discard(id, None, &ada).await,
        };
        (said, call_of(&store, id).await.state)
    };
    for (state, what) in [
        (State::Pending, "approve"),
        (State::Pending, "grant"),
        (State::Planned, "accept"),
        (State::Indeterminate, "did not happen"),
        (State::Dead, "requeue"),
    ] {
        let (said, after) = altered(state, what).await;
        assert_eq!(said, Err(ApprovalError::Altered { call: pending(1).id }), "{what}");
        assert_eq!(after, state, "{what}");
    }
    // What ends the call, or gives it arguments that the person has seen, is taken.
    for (state, what) in
        [(State::Pending, "reject"), (State::Pending, "edit"), (State::Dead, "discard")]
    {
        assert!(altered(state, what).await.0.is_ok(), "{what}");
    }
}

#[tokio::test]
async fn a_statement_that_was_signed_elsewhere_is_checked_like_all_others() {
    let (store, _) = stands(State::Pending).await;
    let record = tamper(&store, other_arguments).await;
    let approval = signed(&Statement::approve(&record, "ada", at(5)));
    let error = service(&store).submit(approval, at(5)).await.expect_err("it was altered");
    assert_eq!(error, ApprovalError::Altered { call: record.id });
    assert_eq!(call_of(&store, record.id).await.state, State::Pending);
    assert_eq!(ApprovalService::check_shown(&record), Err(error));
    assert_eq!(ApprovalService::check_shown(&pending(1)), Ok(()));
}

#[tokio::test]
async fn a_decision_about_what_was_shown_is_refused_when_the_call_has_changed_since() {
    let other = r#"{"to":"mallory@example.org"}"#;
    let changed = |it: &mut CallRecord| {
        other_arguments(it);
        it.shown = other.to_owned();
    };
    let ada = key("ada");
    let (store, record) = stands(State::Pending).await;
    let request = ApprovalRequest::of(&record).expect("it waits");
    tamper(&store, changed).await;
    for shown in [ShownCall::from(&record), ShownCall::from(&request)] {
        let error = now_is(&store, 5).approve(shown, &ada).await.expect_err("another call");
        assert!(matches!(error, ApprovalError::Digest { .. }), "{error}");
    }
    tamper(&store, |it| it.generation = 2).await;
    let error = now_is(&store, 5).approve(&record, &ada).await.expect_err("judged again");
    assert!(matches!(error, ApprovalError::Generation { said: 1, found: 2, .. }), "{error}");
    // By its id alone, the call is decided as it stands.
    assert_eq!(call_of(&store, record.id).await.state, State::Pending);
    now_is(&store, 5).approve(record.id, &ada).await.expect("as it is now");
}

/// The digest of a call with secrets says nothing to whoever has no key, so what is shown of it can be changed.
#[tokio::test]
async fn an_approval_is_of_what_was_shown_also_where_nothing_here_can_compare_it() {
    let (store, _) = stands(State::Pending).await;
    let sealed = tamper(&store, |it| it.arguments = StoredText::Encrypted("00".to_owned())).await;
    let (ada, unseen) = (key("ada"), now_is(&store, 5).unseen());
    let error = now_is(&store, 5).approve(&sealed, &ada).await.expect_err("it is sealed");
    assert_eq!(error, ApprovalError::Unseen { call: sealed.id });
    assert_eq!(ApprovalService::check_shown(&sealed), Err(error));
    tamper(&store, |it| it.shown = r#"{"to":"mallory@example.org"}"#.to_owned()).await;
    let error = unseen.approve(&sealed, &ada).await.expect_err("it shows another call now");
    assert_eq!(error, ApprovalError::NotShown { call: sealed.id });
    unseen.reject(&sealed, None, &ada).await.expect("whatever is shown, it may be rejected");
}

/// Journals may hold calls of one id, where one was copied.
#[tokio::test]
async fn a_statement_that_names_another_journal_or_project_is_refused() {
    let (store, record) = stands(State::Pending).await;
    let changes: [fn(&mut CallRecord); 2] =
        [|it| it.journal = Some("other".to_owned()), |it| it.project = Some("other".to_owned())];
    for change in changes {
        let elsewhere = record.clone().with(change);
        let approval = signed(&Statement::approve(&elsewhere, "ada", at(5)));
        let error = service(&store).submit(approval, at(5)).await.expect_err("it is of another");
        assert!(matches!(error, ApprovalError::OtherJournal { .. }), "{error}");
    }
    assert_eq!(call_of(&store, record.id).await.state, State::Pending);
}

#[tokio::test]
async fn what_was_decided_before_is_given_again_and_somebody_else_hears_who_won() {
    let (store, record) = stands(State::Pending).await;
    now_is(&store, 5).approve(&record, &key("ada")).await.expect("approved");
    let again = now_is(&store, 9).approve(&record, &key("ada")).await.expect("said before");
    assert_eq!((again.repeated, again.at), (true, at(5)));
    let late = now_is(&store, 9).reject(&record, None, &key("bob")).await.expect_err("too late");
    assert!(matches!(late, ApprovalError::Decided { ref who, .. } if who == "ada"), "{late}");
}

#[tokio::test]
async fn an_unknown_call_and_arguments_that_are_none_are_refused_and_nothing_is_signed() {
    let (store, record) = stands(State::Pending).await;
    let ada = key("ada");
    let unknown = now_is(&store, 5).approve(pending(2).id, &ada).await.expect_err("unknown");
    assert_eq!(unknown, ApprovalError::UnknownCall { call: pending(2).id });
    for arguments in ["", "[]", r#"{"to":1,"to":2}"#] {
        let error = now_is(&store, 5).edit(&record, arguments, &ada).await.expect_err(arguments);
        assert!(matches!(error, ApprovalError::Arguments { .. }), "{error}");
    }
    let of_bob = Statement::approve(&record, "bob", at(5));
    let error = now_is(&store, 5).sign_and_submit(of_bob, &ada).await.expect_err("not hers");
    assert!(matches!(error, ApprovalError::NotTheirs(_)), "{error}");
    assert_eq!(call_of(&store, record.id).await, record);
}
