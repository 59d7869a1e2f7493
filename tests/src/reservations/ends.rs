//! Whichever way a call ends, its reservation ends with it.

use super::*;

use futures::FutureExt as _;
use toolwright::CancellationToken;

use crate::support::ended;

/// There it was given back after a success alone.
#[tokio::test(start_paused = true)]
async fn a_reservation_ends_with_its_call_whether_it_succeeds_fails_or_panics() {
    let scene = Scene::new();
    let (ada, bob) = (scene.run("ada"), scene.run("bob"));
    for (end, expected) in [("ok", "ok"), ("fail", "full"), ("panic", "panic")] {
        let arguments = serde_json::json!({"path": "a", "end": end}).to_string();
        let writing = spawned(&ada, Call::new("slow_write", arguments));
        scene.turnstile.entered(1).await;
        assert_eq!(kind(&answer(&bob, of("quick_write", "a")).await), "reserved", "{end}");
        scene.turnstile.let_go(1);
        assert_eq!(kind(&writing.await.unwrap()), expected);
        assert!(scene.held().is_empty(), "{end}");
        assert_eq!(kind(&answer(&bob, of("quick_write", "a")).await), "ok", "{end}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_reservation_ends_with_a_call_that_is_dropped_cancelled_or_out_of_time() {
    let scene =
        Scene::of(|it| it.retry(RetryPolicy::NONE).total_timeout(Some(Duration::from_secs(5))));
    let ada = scene.run("ada");
    let call = of("slow_read", "a");
    {
        let mut reading = Box::pin(ada.call(&call));
        assert!(reading.as_mut().now_or_never().is_none());
        scene.turnstile.entered(1).await;
        assert_eq!(scene.held(), ["ada: a "]);
    }
    assert!(scene.held().is_empty(), "dropped");

    let token = CancellationToken::new();
    let cancelled = spawned(&ada, of("slow_read", "a").cancelled_by(token.clone()));
    scene.turnstile.entered(1).await;
    token.cancel();
    assert_eq!(kind(&ended(cancelled).await.unwrap()), "cancelled");
    assert!(scene.held().is_empty(), "cancelled");

    let late = spawned(&ada, of("slow_read", "a"));
    scene.turnstile.entered(1).await;
    assert_eq!(kind(&ended(late).await.unwrap()), "timeout");
    assert!(scene.held().is_empty(), "out of time");
}

/// A task is the holder here, and it is killed.
#[tokio::test(start_paused = true)]
async fn a_reservation_ends_with_the_task_that_is_aborted() {
    let scene = Scene::new();
    let writing = spawned(&scene.run("ada"), of("slow_write", "a"));
    scene.turnstile.entered(1).await;
    writing.abort();
    assert!(writing.await.unwrap_err().is_cancelled());
    assert!(scene.held().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_drain_leaves_nothing_reserved() {
    let scene = Scene::new();
    let calls = ["a", "b", "c"].map(|path| spawned(&scene.run(path), of("slow_write", path)));
    scene.turnstile.entered(3).await;
    assert_eq!(scene.held().len(), 3);
    scene.turnstile.let_go(1);
    let drained = scene.executor.drain(Duration::from_secs(1)).await;
    assert_eq!(drained.cancelled, 2);
    for call in calls {
        ended(call).await.unwrap();
    }
    assert!(scene.held().is_empty());
}

/// A footprint that nobody can work out reserves nothing, and the call has its answer.
#[tokio::test]
async fn a_footprint_that_panics_is_an_answer_and_reserves_nothing() {
    let scene = Scene::new();
    assert_eq!(kind(&answer(&scene.run("ada"), of("write_nameless", "a")).await), "panic");
    assert!(scene.held().is_empty());
    assert_eq!(kind(&answer(&scene.run("bob"), of("quick_write", "a")).await), "ok");
}

/// Nobody polls it any more, and nobody drops it: its time ends.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_forgotten_loses_its_reservation_after_a_minute() {
    let scene = Scene::new();
    let ada = scene.run("ada");
    let call: &'static Call<'static> = Box::leak(Box::new(of("slow_write", "a")));
    let mut writing = Box::pin(async move { ada.call(call).await });
    assert!(writing.as_mut().now_or_never().is_none());
    std::mem::forget(writing);
    let bob = scene.run("bob");
    tokio::time::advance(Duration::from_secs(59)).await;
    assert_eq!(kind(&answer(&bob, of("quick_write", "a")).await), "reserved");
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(kind(&answer(&bob, of("quick_write", "a")).await), "ok");
}
