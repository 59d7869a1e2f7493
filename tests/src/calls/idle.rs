//! What a worker reads while nothing happens: it finds what is new, and reads nothing of calls that its approver knows.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use tokio::sync::mpsc;
use toolwright::approval::{ApprovalRequest, Channel};

use super::odd::Odd;
use super::support::{Office, a_refund, key, office, suspended};

/// A worker with an approver who decides later, and how many records it has read.
fn at_work(
    office: &Office,
    is_deaf: bool,
) -> (mpsc::Receiver<ApprovalRequest>, [Arc<AtomicUsize>; 2]) {
    let store = Odd { inner: office.store.clone(), is_deaf, ..Odd::default() };
    let read = [Arc::clone(&store.gets), Arc::clone(&store.listed)];
    let (sender, requests) = mpsc::channel(16);
    let executor = office
        .bare()
        .journal(office.journal_in(store))
        .approver(key("ada", 1), Channel::new(sender));
    let executor = executor.build().unwrap();
    tokio::spawn(async move { executor.worker().unwrap().work().await });
    (requests, read)
}

/// A call of another process waits.
async fn waiting(office: &Office) {
    suspended(office.executor().submit(&a_refund()).await);
}

async fn seconds(count: u64) {
    tokio::time::sleep(Duration::from_secs(count)).await;
}

#[tokio::test(start_paused = true)]
async fn an_idle_worker_reads_no_record_of_a_call_that_its_approver_knows() {
    let office = office();
    for _ in 0..5 {
        waiting(&office).await;
    }
    let (mut requests, read) = at_work(&office, false);
    for _ in 0..5 {
        requests.recv().await.unwrap();
    }
    seconds(5).await;
    let before = read.each_ref().map(|it| it.load(SeqCst));
    seconds(300).await;
    assert_eq!(read.each_ref().map(|it| it.load(SeqCst)), before);
    assert!(requests.is_empty(), "the approver is notified of each once");
}

#[tokio::test(start_paused = true)]
async fn a_new_call_is_found_although_the_store_says_of_no_change() {
    let office = office();
    waiting(&office).await;
    let (mut requests, _) = at_work(&office, true);
    let first = requests.recv().await.unwrap();
    seconds(5).await;
    waiting(&office).await;
    let second = tokio::time::timeout(Duration::from_secs(2), requests.recv()).await;
    assert_ne!(second.expect("within two seconds").unwrap().call, first.call);
}
