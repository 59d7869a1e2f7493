//! A call ends in time or when nobody wants it any more, and is answered either way.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolwright::{ErrorClass, ToolContext, tool};

use crate::support::{NEVER_ENDS, PING, answer, builder, call, executor, kind};

/// Never ends, and may take one second.
#[tool(timeout = "1s")]
async fn never_in_a_second() {
    crate::support::forever::<()>().await;
}

/// Takes a day, and may.
#[tool(timeout = none)]
async fn take_a_day() -> &'static str {
    tokio::time::sleep(Duration::from_secs(86_400)).await;
    "the next day"
}

#[tokio::test(start_paused = true)]
async fn the_time_is_the_tools_own_or_else_the_executors() {
    let executor = builder([NEVER_IN_A_SECOND, NEVER_ENDS, TAKE_A_DAY])
        .timeout(Some(Duration::from_secs(7)))
        .build()
        .unwrap();
    for (name, words) in [("never_in_a_second", "than 1s"), ("never_ends", "than 7s")] {
        let answer = executor.call(&call(name)).await;
        let error = answer.error().unwrap();
        assert_eq!((error.kind(), error.classified()), ("timeout", ErrorClass::Transient));
        assert!(error.message().contains(words), "{error}");
    }
    assert_eq!(executor.call(&call("take_a_day")).await.text(), "the next day");
}

#[tokio::test]
async fn a_call_is_cancelled_before_while_and_after() {
    let executor = executor([NEVER_ENDS, PING]);
    let token = CancellationToken::new();
    let running = answer(&executor, call("never_ends").cancelled_by(token.clone()));
    let (running, ()) = tokio::join!(running, async { token.cancel() });
    assert_eq!(running.error().unwrap().classified(), ErrorClass::Cancelled);
    let late = executor.call(&call("ping").cancelled_by(token)).await;
    assert_eq!(kind(&late), "cancelled");
    let token = CancellationToken::new();
    let done = executor.call(&call("ping").cancelled_by(token.clone())).await;
    token.cancel();
    assert_eq!(done.text(), "pong");
}

#[tokio::test]
async fn a_run_that_is_cancelled_ends_its_calls_and_no_others() {
    let executor = executor([NEVER_ENDS, PING]);
    let token = CancellationToken::new();
    let run = executor.run("unwanted").cancelled_by(token.clone()).start().unwrap();
    let call_that_runs = call("never_ends");
    let (running, ()) = tokio::join!(run.call(&call_that_runs), async { token.cancel() });
    assert_eq!(kind(&running), "cancelled");
    assert_eq!(kind(&run.call(&call("ping")).await), "cancelled");
    assert_eq!(kind(&executor.call(&call("ping")).await), "ok");
}

/// Hands its context to somebody who outlives it.
#[tool]
async fn hand_over(context: &ToolContext, others: &Others) {
    others.0.send(context.clone()).unwrap();
    crate::support::forever::<()>().await;
}

/// Who outlives a call.
struct Others(tokio::sync::mpsc::UnboundedSender<ToolContext>);

#[tokio::test]
async fn who_outlives_a_call_learns_of_its_end() {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let executor = builder([HAND_OVER]).service(Others(sender)).build().unwrap();
    let mut running = Box::pin(answer(&executor, call("hand_over")));
    assert!(futures::poll!(&mut running).is_pending());
    let context = receiver.recv().await.unwrap();
    assert!(!context.is_cancelled());
    drop(running);
    context.cancelled().await;
    assert!(context.is_cancelled());
}
