//! What listeners hear of a call: in life order, with exactly one end.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use toolwright::{Call, ToolContext, ToolError, ToolEventKind, tool};

use crate::support::{Log, NEVER_ENDS, PING, answer, builder, call, word};

/// Reports and ends as told.
#[tool(effect = read)]
async fn report(
    context: &ToolContext,
    /// Whether to fail.
    fail: bool,
) -> Result<(), ToolError> {
    context.progress("on the way", None);
    if fail { Err(ToolError::new("failed", "as told")) } else { Ok(()) }
}

#[tokio::test]
async fn events_come_in_life_order_and_end_once() {
    for (call, expected) in [
        (
            Call::new("report", r#"{"fail":false}"#),
            vec!["started", "executing", "progress", "completed"],
        ),
        (
            Call::new("report", r#"{"fail":true}"#),
            vec!["started", "executing", "progress", "failed"],
        ),
        (Call::new("report", "{}"), vec!["started", "failed"]),
        (Call::new("unknown", "{}"), vec!["started", "failed"]),
    ] {
        let log = Log::default();
        let executor = builder([REPORT]).listen(log.listener()).build().unwrap();
        executor.call(&call).await;
        assert_eq!(log.lines(), expected);
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_is_abandoned() {
    let log = Log::default();
    let executor = builder([NEVER_ENDS]).listen(log.listener()).build().unwrap();
    let mut running = Box::pin(answer(&executor, call("never_ends")));
    assert!(futures::poll!(&mut running).is_pending());
    drop(running);
    assert_eq!(log.lines(), ["started", "executing", "abandoned"]);
}

#[tokio::test]
async fn a_call_that_was_never_polled_never_began() {
    let log = Log::default();
    let executor = builder([PING]).listen(log.listener()).build().unwrap();
    drop(executor.call(&call("ping")));
    assert!(log.lines().is_empty());
}

#[tokio::test]
async fn a_panic_of_a_listener_harms_neither_the_call_nor_other_listeners() {
    let log = Log::default();
    let executor = builder([PING])
        .listen(|_| std::panic::resume_unwind(Box::new("a defect")))
        .listen(log.listener())
        .build()
        .unwrap();
    assert_eq!(executor.call(&call("ping")).await.text(), "pong");
    assert_eq!(log.lines(), ["started", "executing", "completed"]);
}

/// S2.26: what ran is told with it: the tool's name, the run, the ids, and, in the next test, how long it took.
#[tokio::test(start_paused = true)]
async fn an_end_tells_the_tool_the_run_the_ids_and_the_time_it_took() {
    let log = Log::default();
    let heard = log.clone();
    let executor = builder([PING])
        .listen(move |event| {
            let elapsed = match event.kind {
                ToolEventKind::Completed { elapsed, answer } => Some((elapsed, answer.text())),
                _ => None,
            };
            heard.add(format!(
                "{} {} {} {:?} {}",
                word(&event.kind),
                event.tool,
                event.run,
                event.provider_id,
                elapsed.is_some_and(|(_, text)| text == "pong")
            ));
        })
        .build()
        .unwrap();
    let run = executor.run("run-1").start().unwrap();
    run.call(&call("ping").id("call_1")).await;
    assert_eq!(
        log.lines(),
        [
            r#"started ping run-1 Some("call_1") false"#,
            r#"executing ping run-1 Some("call_1") false"#,
            r#"completed ping run-1 Some("call_1") true"#,
        ]
    );
}

/// Takes 30 milliseconds.
#[tool(effect = read)]
async fn doze(
    /// Whether to fail then.
    fail: bool,
) -> Result<(), ToolError> {
    tokio::time::sleep(Duration::from_millis(30)).await;
    if fail { Err(ToolError::new("failed", "as told")) } else { Ok(()) }
}

/// S2.26: how long a call took is told with its end. By the real clock, which the time of an event is of.
#[tokio::test]
async fn the_time_of_an_end_is_how_long_the_call_took() {
    let ends: Arc<Mutex<Vec<(&str, Duration)>>> = Arc::default();
    let heard = Arc::clone(&ends);
    let executor = builder([DOZE, NEVER_ENDS])
        .listen(move |event| {
            if let ToolEventKind::Completed { elapsed, .. }
            | ToolEventKind::Failed { elapsed, .. }
            | ToolEventKind::Abandoned { elapsed } = event.kind
            {
                heard.lock().unwrap().push((word(&event.kind), elapsed));
            }
        })
        .build()
        .unwrap();
    let started = Instant::now();
    let mut between = Vec::new();
    for arguments in [r#"{"fail":false}"#, r#"{"fail":true}"#] {
        let start = Instant::now();
        executor.call(&Call::new("doze", arguments)).await;
        between.push(start.elapsed());
    }
    let start = Instant::now();
    let time = Duration::from_millis(30);
    tokio::time::timeout(time, executor.call(&call("never_ends"))).await.unwrap_err();
    between.push(start.elapsed());
    let ends = ends.lock().unwrap();
    let words: Vec<&str> = ends.iter().map(|(word, _)| *word).collect();
    assert_eq!(words, ["completed", "failed", "abandoned"]);
    for ((word, elapsed), most) in ends.iter().zip(between) {
        // A timer may fire within the millisecond before its time.
        assert!(
            *elapsed >= time - Duration::from_millis(1) && *elapsed <= most,
            "{word}: {elapsed:?}"
        );
    }
    assert!(started.elapsed() >= ends.iter().map(|(_, elapsed)| *elapsed).sum());
}
