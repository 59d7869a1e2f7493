//! A worker that looks into a slow journal goes on with the calls that it runs.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use toolwright::journal::{DocumentWrite, Journal, State, Store, Transaction};
use toolwright::{Call, CallId, Executor, OnNoApprover, Registry, tool};

use super::odd::Odd;
use super::support::{Office, Ran, office, suspended};

/// Ends when it is told to.
#[tool(name = "looking_slow", approval = "it takes long")]
async fn slow(ran: &Ran, told: &Notify) {
    ran.add("begins");
    told.notified().await;
}

/// A worker that runs a call, and waits for the journal.
struct Scene {
    office: Office,
    call: CallId,
    told: Arc<Notify>,
    executor: Executor,
    working: JoinHandle<()>,
    lists: watch::Sender<bool>,
}

async fn scene() -> Scene {
    let (office, told) = (office(), Arc::new(Notify::new()));
    let (lists, lists_now) = watch::channel(true);
    let clock = office.clock.clone();
    let executor = Executor::builder(Registry::of([SLOW]).unwrap())
        .unrestricted()
        .service_arc(Arc::clone(&office.ran))
        .service_arc(Arc::clone(&told))
        .journal(
            Journal::new(Odd {
                inner: office.store.clone(),
                lists: Some(lists_now),
                ..Odd::default()
            })
            .trust("ada", office.ada.public())
            .on_no_approver(OnNoApprover::Park)
            .clock(move || clock.now()),
        )
        .timeout(None)
        .build()
        .unwrap();
    let call = suspended(executor.submit(&Call::new("looking_slow", "{}")).await).call;
    office.approve(call).await.unwrap();
    let working = tokio::spawn({
        let executor = executor.clone();
        async move { executor.worker().unwrap().work().await }
    });
    while office.ran.times() == 0 {
        tokio::task::yield_now().await;
    }
    lists.send_replace(false);
    let note = DocumentWrite { key: "note".to_owned(), expects: None, text: Some(String::new()) };
    let unit = Transaction { documents: vec![note], ..Transaction::default() };
    office.store.commit(unit, office.clock.now()).await.unwrap();
    // Whoever lists has a receiver of its own.
    while lists.receiver_count() < 2 {
        tokio::task::yield_now().await;
    }
    Scene { office, call, told, executor, working, lists }
}

impl Scene {
    /// Gives the worker the time to do what it can.
    async fn settle(&self) {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }

    /// The journal answers again, and the worker ends.
    async fn ended(self) {
        self.lists.send_replace(true);
        let _ = self.executor.drain(Duration::from_secs(60)).await;
        self.working.await.unwrap();
    }
}

#[tokio::test]
async fn a_call_ends_while_its_worker_waits_for_the_journal() {
    let scene = scene().await;
    scene.told.notify_one();
    scene.settle().await;
    assert_eq!(scene.office.state(scene.call).await, State::Succeeded);
    scene.ended().await;
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_renewed_while_its_worker_waits_for_the_journal() {
    let scene = scene().await;
    let before = scene.office.record(scene.call).await;
    scene.office.clock.pass(Duration::from_secs(20));
    tokio::time::sleep(Duration::from_secs(20)).await;
    let now = scene.office.record(scene.call).await;
    assert!(now.lease > before.lease, "{:?}", now.lease);
    assert_eq!((now.state, now.epoch), (State::Running, before.epoch));
    scene.told.notify_one();
    scene.ended().await;
}
