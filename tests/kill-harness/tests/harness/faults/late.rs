//! A claim of which its owner hears when it does not count any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use toolwright::journal::{CommitError, Journal, MemoryStore, State, Store, Transaction};
use toolwright::{Call, Executor, OnNoApprover, Outcome, Registry, tool};

/// Counts how often it is called.
#[tool(name = "late_count")]
async fn count(times: &Times) -> String {
    times.0.fetch_add(1, SeqCst);
    "counted".to_owned()
}

struct Times(AtomicUsize);

/// A memory store, and a clock that passes a minute while a claim is committed.
struct Slow {
    inner: MemoryStore,
    clock: Arc<AtomicI64>,
}

impl Store for Slow {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        Box::pin(async move {
            let claims = unit.calls.iter().any(|write| write.record.state == State::Running);
            self.inner.commit(unit, now).await?;
            // Once: the next claim is heard of in time.
            if claims && self.clock.load(SeqCst) == 0 {
                self.clock.store(60, SeqCst);
            }
            Ok(())
        })
    }

    toolwright::pass_on_leases!(inner);
    toolwright::pass_on_questions!(inner);
}

/// Found by a process that was stopped between the commit of its claim and the word that it stood: its call had been
/// declared lost, and found not to have happened, when it began.
#[tokio::test]
async fn a_claim_that_is_heard_of_too_late_is_given_back_and_not_begun() {
    let (store, clock) = (MemoryStore::new(), Arc::new(AtomicI64::new(0)));
    let times = Arc::new(Times(AtomicUsize::new(0)));
    let now = Arc::clone(&clock);
    let executor = Executor::builder(Registry::of([COUNT]).unwrap())
        .unrestricted()
        .service_arc(Arc::clone(&times))
        .journal(
            Journal::new(Slow { inner: store.clone(), clock })
                .on_no_approver(OnNoApprover::Park)
                .lease(Duration::from_secs(30))
                .clock(move || Timestamp::UNIX_EPOCH + SignedDuration::from_secs(now.load(SeqCst))),
        )
        .build()
        .unwrap();
    let outcome = executor.submit(&Call::new("late_count", "{}")).await;
    let Outcome::Suspended(waits) = outcome else { panic!("{outcome:?}") };
    assert_eq!((waits.state, times.0.load(SeqCst)), (State::Ready, 0));
    let outcome = executor.worker().unwrap().resume(waits.call).await;
    let answer = outcome.answer().unwrap();
    assert_eq!((answer.text().as_ref(), times.0.load(SeqCst)), ("counted", 1));
}
