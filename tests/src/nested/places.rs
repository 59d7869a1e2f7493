//! A parent that waits for its child holds no place, and its time stands still.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::future::join_all;
use toolwright::{Call, Calls, ToolError, tool};

use crate::support::{PING, Turnstile, WAIT_FOR_GO, builder, call, ended, kind, wait_for_go};
use tokio::sync::Notify;

/// How many children run at once, and the most that ever did.
#[derive(Default)]
struct Inside(AtomicU32, AtomicU32);

/// Stays for a while.
#[tool(unlinked, effect = read)]
async fn stay(inside: &Inside) {
    let now = inside.0.fetch_add(1, Ordering::SeqCst) + 1;
    inside.1.fetch_max(now, Ordering::SeqCst);
    for _ in 0..4 {
        tokio::task::yield_now().await;
    }
    inside.0.fetch_sub(1, Ordering::SeqCst);
}

/// Has several stay at once.
#[tool(effect = read)]
async fn stay_all(
    calls: &Calls,
    /// How many.
    number: usize,
) -> Result<usize, ToolError> {
    let stays = (0..number).map(|_| calls.to(STAY).await_as::<()>());
    let stayed: Result<Vec<()>, ToolError> = join_all(stays).await.into_iter().collect();
    Ok(stayed?.len())
}

/// Sleeps so many milliseconds.
#[tool(effect = read, timeout = none)]
async fn sleep(
    /// How many.
    ms: u64,
) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

/// Sleeps itself, and has another sleep meanwhile.
#[tool(effect = read, timeout = "1s", total_timeout = "2s", retry(attempts = 1))]
async fn sleep_around(
    calls: &Calls,
    /// Before, during and after, in milliseconds.
    ms: [u64; 3],
) -> Result<(), ToolError> {
    tokio::time::sleep(Duration::from_millis(ms[0])).await;
    calls.to(SLEEP).with("ms", &ms[1]).await_as::<()>().await?;
    tokio::time::sleep(Duration::from_millis(ms[2])).await;
    Ok(())
}

/// Begins a child, and drops it.
#[tool(effect = read)]
async fn give_up(calls: &Calls) {
    let child = call("wait_for_go");
    tokio::select! {
        biased;
        _ = calls.call(&child) => {}
        () = tokio::task::yield_now() => {}
    }
}

#[tokio::test]
async fn under_a_limit_of_one_a_parent_gets_the_answer_of_its_child() {
    let inside = Arc::new(Inside::default());
    let builder = builder([STAY, STAY_ALL]).limit(1).service_arc(Arc::clone(&inside));
    let executor = builder.build().unwrap();
    let stay_all = Call::new("stay_all", r#"{"number":2}"#);
    let parents = ended(join_all((0..3).map(|_| executor.call(&stay_all)))).await;
    assert!(parents.iter().all(|it| it.text() == "2"), "{parents:?}");
    assert_eq!(inside.1.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_hundred_children_at_once_keep_to_the_limit() {
    let inside = Arc::new(Inside::default());
    let builder = builder([STAY, STAY_ALL]).limit(2).service_arc(Arc::clone(&inside));
    let executor = builder.build().unwrap();
    let stay_all = Call::new("stay_all", r#"{"number":100}"#);
    assert_eq!(ended(executor.call(&stay_all)).await.text(), "100");
    assert_eq!(inside.1.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_child_is_not_that_of_its_parent() {
    let executor = builder([SLEEP, SLEEP_AROUND]).build().unwrap();
    let answer = async |ms: [u64; 3]| {
        let arguments = serde_json::json!({"ms": ms}).to_string();
        kind(&executor.call(&Call::new("sleep_around", arguments)).await)
    };
    assert_eq!(answer([400, 60_000, 400]).await, "ok");
    assert_eq!(answer([400, 60_000, 700]).await, "timeout");
    assert_eq!(answer([1_100, 0, 0]).await, "timeout");
}

#[tokio::test]
async fn a_parent_that_drops_its_child_goes_on_and_gives_its_place_back() {
    let turnstile = Turnstile::new();
    let builder = builder([GIVE_UP, WAIT_FOR_GO]).limit(1).service_arc(Arc::clone(&turnstile));
    let executor = builder.build().unwrap();
    assert_eq!(kind(&ended(executor.call(&call("give_up"))).await), "ok");
    turnstile.let_go(1);
    assert_eq!(ended(executor.call(&call("wait_for_go"))).await.text(), "went");
}

/// Begins a child, and goes on without it on a signal; ends when a call may go.
#[tool(effect = read)]
async fn go_on_without(calls: &Calls, signals: &Signals, turnstile: &Turnstile) -> &'static str {
    let child = call("stay");
    tokio::select! {
        biased;
        _ = calls.call(&child) => "with",
        () = signals.0.notified() => {
            signals.1.notify_one();
            wait_for_go(turnstile).await;
            "without"
        }
    }
}

/// The signal to go on, and the one that the call does.
#[derive(Default)]
struct Signals(Notify, Notify);

/// The child has ended, and another call has the place of its parent, which then drops the child.
#[tokio::test]
async fn a_parent_that_drops_its_child_while_it_waits_for_room_holds_a_place_again() {
    let (turnstile, signals) = (Turnstile::new(), Arc::new(Signals::default()));
    let builder = builder([GO_ON_WITHOUT, STAY, WAIT_FOR_GO, PING]).limit(1);
    let builder = builder.service_arc(Arc::clone(&turnstile)).service_arc(Arc::clone(&signals));
    let executor = builder.service(Inside::default()).build().unwrap();
    let (parent, other, late) = (call("go_on_without"), call("wait_for_go"), call("ping"));
    let rest = async {
        turnstile.entered(1).await;
        signals.0.notify_one();
        signals.1.notified().await;
        // The other call leaves; its place is the one that the parent has taken over.
        turnstile.entered(1).await;
        turnstile.let_go(1);
        let mut late = Box::pin(executor.call(&late));
        for _ in 0..16 {
            assert!(futures::poll!(&mut late).is_pending(), "there is no room beside the parent");
            tokio::task::yield_now().await;
        }
        turnstile.let_go(1);
        late.await
    };
    let all = async { tokio::join!(executor.call(&parent), executor.call(&other), rest) };
    let (parent, other, late) = ended(all).await;
    assert_eq!(
        (parent.text(), other.text(), late.text()),
        ("without".into(), "went".into(), "pong".into())
    );
}
