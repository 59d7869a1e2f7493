//! Something happens to the journal between an approval service's look at the call and its commit.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures::future::{BoxFuture, FutureExt};
use jiff::Timestamp;
use toolwright::CallId;
use toolwright::approval::{ApprovalError, ApprovalService, Decision, Statement, SubmitOutcome};
use toolwright::journal::{
    CallRecord, CallWrite, CommitError, MemoryStore, State, Store, Transaction, Transition,
};

use super::scene::{at, call_of, happens, journal, pending, signed, terms, trusted};

type Happening = Box<dyn Fn(MemoryStore) -> BoxFuture<'static, ()> + Send + Sync>;

/// A store where something happens before each of the first commits.
struct Between {
    store: MemoryStore,
    left: AtomicU32,
    happening: Happening,
}

impl Store for Between {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        async move {
            let less = |left: u32| left.checked_sub(1);
            if self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok() {
                (self.happening)(self.store.clone()).await;
            }
            self.store.commit(unit, now).await
        }
        .boxed()
    }

    fn renew<'a>(
        &'a self,
        call: CallId,
        epoch: u64,
        until: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        self.store.renew(call, epoch, until)
    }

    fn acknowledge<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<(), CommitError>> {
        self.store.acknowledge(call)
    }

    toolwright::pass_on_questions!(store);
}

/// Submits `statement` to a journal of one waiting call, where `happening` comes before the first `times` commits.
async fn submitted(
    store: &MemoryStore,
    statement: &Statement,
    times: u32,
    happening: impl Fn(MemoryStore) -> BoxFuture<'static, ()> + Send + Sync + 'static,
) -> Result<SubmitOutcome, ApprovalError> {
    let (left, happening) = (AtomicU32::new(times), Box::new(happening) as Happening);
    let between = Between { store: store.clone(), left, happening };
    ApprovalService::new(Arc::new(between))
        .trusting(trusted())
        .submit(signed(statement), at(9))
        .await
}

/// Bob says something.
fn bob_says(
    statement: impl Fn(&CallRecord) -> Statement + Send + Sync + 'static,
) -> impl Fn(MemoryStore) -> BoxFuture<'static, ()> + Send + Sync + 'static {
    move |store| {
        let signed = signed(&statement(&pending(1)));
        let service = ApprovalService::new(Arc::new(store)).trusting(trusted());
        async move { drop(service.submit(signed, at(7)).await.expect("Bob is first")) }.boxed()
    }
}

#[tokio::test]
async fn a_decision_in_between_wins_and_is_named() {
    let ada = Statement::approve_with_grant(&pending(1), terms(), "ada", at(5));
    let verdicts: [(Decision, State); 3] = [
        (Decision::Approve { grant: None }, State::Ready),
        (Decision::Reject { reason: None }, State::Rejected),
        (Decision::Edit { arguments: "{}".to_owned(), digest: "d".to_owned() }, State::Judging),
    ];
    for (said, stands) in verdicts {
        let store = journal([pending(1)]).await;
        let bob = said.clone();
        let bob = bob_says(move |record| Statement {
            verdict: bob.clone(),
            ..Statement::approve(record, "bob", at(5))
        });
        let error = submitted(&store, &ada, 1, bob).await.expect_err("Bob won");
        let ApprovalError::Decided { who, at: when, verdict, state, .. } = error else {
            panic!("{error}")
        };
        assert_eq!((who.as_str(), when, *verdict, state), ("bob", at(7), said, stands));
        let now = call_of(&store, pending(1).id).await;
        assert_eq!((now.version, now.state), (2, stands));
        // The grant went with the approval that lost.
        assert_eq!(store.documents("grant/").await, Ok(Vec::new()));
    }
}

#[tokio::test]
async fn the_same_decision_in_between_is_the_one_that_counts() {
    let store = journal([pending(1)]).await;
    let same = |record: &CallRecord| Statement::approve(record, "ada", at(5));
    let outcome = submitted(&store, &same(&pending(1)), 1, bob_says(same)).await.expect("approved");
    assert_eq!((outcome.repeated, outcome.at), (true, at(7)));
    assert_eq!(call_of(&store, pending(1).id).await.version, 2);
}

#[tokio::test]
async fn an_expiry_or_the_end_of_the_run_in_between_wins_and_is_named() {
    for event in [Transition::Expired, Transition::RunEnded] {
        let store = journal([pending(1)]).await;
        let over = move |store: MemoryStore| {
            async move { assert!(happens(&store, pending(1).id, event, at(8)).await) }.boxed()
        };
        let approval = Statement::approve(&pending(1), "ada", at(5));
        let error = submitted(&store, &approval, 1, over).await.expect_err("over");
        let ApprovalError::Elsewhere { what, who, at: when, .. } = error else { panic!("{error}") };
        assert_eq!((what, who.as_str(), when), (event.to_string(), "executor:one", at(8)));
    }
}

/// A note that somebody was told changes the record, but not what may happen to it.
fn told(store: MemoryStore) -> BoxFuture<'static, ()> {
    async move {
        let mut record = call_of(&store, pending(1).id).await;
        let expects = Some(record.version);
        record.version += 1;
        if let Some(ask) = &mut record.ask {
            ask.notified = true;
        }
        let calls = vec![CallWrite { expects, record, entries: Vec::new() }];
        let unit = Transaction { calls, documents: Vec::new() };
        store.commit(unit, at(6)).await.expect("told");
    }
    .boxed()
}

#[tokio::test]
async fn any_other_change_in_between_is_kept_and_the_decision_too() {
    let store = journal([pending(1)]).await;
    let approval = Statement::approve(&pending(1), "ada", at(5));
    let outcome = submitted(&store, &approval, 5, told).await.expect("approved all the same");
    assert!(!outcome.repeated);
    let now = call_of(&store, pending(1).id).await;
    assert_eq!((now.version, now.state), (7, State::Ready));
    assert!(now.ask.is_some_and(|ask| ask.notified));
}

#[tokio::test]
async fn a_journal_that_never_rests_is_an_error_in_the_end() {
    let store = journal([pending(1)]).await;
    let approval = Statement::approve(&pending(1), "ada", at(5));
    let error = submitted(&store, &approval, u32::MAX, told).await.expect_err("never rests");
    assert!(error.to_string().ends_with("submit it again"), "{error}");
    assert_eq!(call_of(&store, pending(1).id).await.state, State::Pending);
}

#[tokio::test]
async fn a_use_of_a_grant_while_it_is_revoked_is_not_lost() {
    use toolwright::approval::Grant;
    let store = journal([pending(1)]).await;
    let approval = Statement::approve_with_grant(&pending(1), terms(), "ada", at(5));
    let given = submitted(&store, &approval, 0, told).await.expect("granted");
    let id = given.grant.expect("an id");
    let key = Grant::key("send_mail", &id);
    let used = {
        let key = key.clone();
        move |store: MemoryStore| {
            let key = key.clone();
            async move {
                let document = store.document(&key).await.expect("works").expect("kept");
                let mut grant = Grant::from_text(&key, &document.text).expect("a grant");
                grant.used += 1;
                let write = toolwright::journal::DocumentWrite {
                    key,
                    expects: Some(document.version),
                    text: Some(grant.to_text()),
                };
                let unit = Transaction { calls: Vec::new(), documents: vec![write] };
                store.commit(unit, at(8)).await.expect("used");
            }
            .boxed()
        }
    };
    submitted(&store, &Statement::revoke(&id, "bob", at(9)), 2, used).await.expect("revoked");
    let document = store.document(&key).await.expect("works").expect("kept");
    let grant = Grant::from_text(&key, &document.text).expect("a grant");
    assert_eq!((grant.used, grant.revoked.is_some()), (2, true));
}
