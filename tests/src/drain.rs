//! The orderly end: running calls finish, new ones are turned away, who takes too long is cancelled.

use std::time::Duration;

use futures::future::join_all;
use toolwright::{ErrorClass, tool};

use crate::support::{
    Log, NEVER_ENDS, PING, Turnstile, WAIT_FOR_GO, answer, builder, call, kind, wait_for_go,
};

const GRACE: Duration = Duration::from_secs(5);

#[tokio::test(start_paused = true)]
async fn running_calls_finish_and_new_ones_are_turned_away() {
    let turnstile = Turnstile::new();
    let executor = builder([WAIT_FOR_GO, PING]).service_arc(turnstile.clone()).build().unwrap();
    let watch = async {
        turnstile.entered(1).await;
        let draining = executor.drain(GRACE);
        let late = async {
            tokio::task::yield_now().await;
            let late = executor.call(&call("ping")).await;
            turnstile.let_go(1);
            late
        };
        tokio::join!(draining, late)
    };
    let (running, (drained, late)) = tokio::join!(answer(&executor, call("wait_for_go")), watch);
    assert_eq!(running.text(), "went");
    assert_eq!(drained.cancelled, 0);
    let error = late.error().unwrap();
    assert_eq!(error.kind(), "shutting_down");
    assert_eq!(error.classified(), ErrorClass::NotStarted { retry_after: None });
}

#[tokio::test(start_paused = true)]
async fn calls_over_the_grace_are_cancelled_counted_and_answered() {
    let log = Log::default();
    let executor = builder([NEVER_ENDS]).timeout(None).listen(log.listener()).build().unwrap();
    let calls = join_all((0..3).map(|_| answer(&executor, call("never_ends"))));
    let (answers, drained) = tokio::join!(calls, executor.drain(GRACE));
    assert!(answers.iter().all(|answer| kind(answer) == "cancelled"));
    assert_eq!(drained.cancelled, 3);
    assert_eq!(log.count("failed"), 3);
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_for_a_place_are_turned_away() {
    let turnstile = Turnstile::new();
    let executor = builder([WAIT_FOR_GO]).service_arc(turnstile.clone()).limit(1).build().unwrap();
    let watch = async {
        turnstile.entered(1).await;
        let let_go = async { turnstile.let_go(1) };
        tokio::join!(executor.drain(GRACE), let_go).0
    };
    let [running, waiting] = [(); 2].map(|()| answer(&executor, call("wait_for_go")));
    let (running, waiting, drained) = tokio::join!(running, waiting, watch);
    assert_eq!([running, waiting].map(|it| kind(&it)), ["ok", "shutting_down"]);
    assert_eq!(drained.cancelled, 0);
}

/// Goes when it is let go, one at a time.
#[tool(effect = read, limit = 1)]
async fn go_alone(turnstile: &Turnstile) -> &'static str {
    wait_for_go(turnstile).await
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_for_a_tool_of_few_calls_are_turned_away_at_once() {
    let turnstile = Turnstile::new();
    let executor = builder([GO_ALONE]).service_arc(turnstile.clone()).build().unwrap();
    let watch = async {
        turnstile.entered(1).await;
        let turned_away = async {
            let waiting = answer(&executor, call("go_alone")).await;
            turnstile.let_go(1);
            waiting
        };
        tokio::join!(turned_away, executor.drain(GRACE)).0
    };
    let (running, waiting) = tokio::join!(answer(&executor, call("go_alone")), watch);
    assert_eq!([running, waiting].map(|it| kind(&it)), ["ok", "shutting_down"]);
}

#[tokio::test(start_paused = true)]
async fn an_executor_without_calls_is_drained_at_once_and_again() {
    let executor = builder([PING]).build().unwrap();
    for _ in 0..2 {
        assert_eq!(executor.drain(Duration::ZERO).await.cancelled, 0);
    }
    assert_eq!(kind(&executor.call(&call("ping")).await), "shutting_down");
    let run = executor.run("late").start().unwrap();
    assert_eq!(kind(&run.call(&call("ping")).await), "shutting_down");
}
