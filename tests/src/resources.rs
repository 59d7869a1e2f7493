//! What a tool borrows as `&mut T` is opened for its call and closed after it.

use std::sync::Arc;

use toolwright::{Call, Closing, Opening, Resource, ToolError, tool};

use crate::support::{Held, Log, answer, builder, call, kind};

/// Uses two resources and fails where told to.
#[tool]
async fn use_two(
    first: &mut Held<1>,
    second: &mut Held<2>,
    /// Whether to fail.
    fail: bool,
) -> Result<&'static str, ToolError> {
    first.log.add("use");
    second.log.add("use");
    if fail { Err(ToolError::new("failed", "as told")) } else { Ok("used") }
}

const SUCCEED: &str = r#"{"fail":false}"#;
const FAIL: &str = r#"{"fail":true}"#;

/// S0.16: the connection is this call's own: each call has one opened.
/// S0.22: the executor opens before the function runs and closes after it, around every call.
/// S0.23: it is open for the one call alone and closed before the answer is given.
#[tokio::test]
async fn resources_are_opened_for_each_call_and_closed_in_reverse_order() {
    let log = Log::default();
    let executor = builder([USE_TWO])
        .resource(Held::<1>::opener(&log))
        .resource(Held::<2>::opener(&log))
        .build()
        .unwrap();
    let one_call =
        ["open 1", "open 2", "use", "use", "close 2 Succeeded", "close 1 Succeeded", "answered"];
    for _ in 0..2 {
        executor.call(&Call::new("use_two", SUCCEED)).await;
        log.add("answered");
    }
    assert_eq!(log.lines(), [one_call, one_call].concat());
}

#[tokio::test]
async fn resources_of_a_call_that_failed_are_told_so() {
    let log = Log::default();
    let executor = builder([USE_TWO])
        .resource(Held::<1>::opener(&log))
        .resource(Held::<2>::opener(&log))
        .build()
        .unwrap();
    let answer = executor.call(&Call::new("use_two", FAIL)).await;
    assert_eq!(kind(&answer), "failed");
    assert_eq!(log.lines()[4..], ["close 2 Failed", "close 1 Failed"]);
}

#[tokio::test]
async fn a_resource_that_fails_to_close_after_a_success_gives_the_answer() {
    let log = Log::default();
    let opened = log.clone();
    let executor = builder([USE_TWO])
        .resource(Held::<1>::opener(&log))
        .resource(move |_| {
            let held = Held::<2>::open(&opened).closing_fails();
            async { Ok(held) }
        })
        .build()
        .unwrap();
    let answer = executor.call(&Call::new("use_two", SUCCEED)).await;
    assert_eq!(kind(&answer), "not_kept");
    assert_eq!(log.lines()[4..], ["close 2 Succeeded", "close 1 Failed"]);
}

#[tokio::test]
async fn the_first_error_is_told_where_closing_fails_as_well() {
    let log = Log::default();
    let opened = log.clone();
    let executor = builder([USE_TWO])
        .resource(Held::<1>::opener(&log))
        .resource(move |_| {
            let held = Held::<2>::open(&opened).closing_fails();
            async { Ok(held) }
        })
        .build()
        .unwrap();
    assert_eq!(kind(&executor.call(&Call::new("use_two", FAIL)).await), "failed");
}

#[tokio::test]
async fn an_opener_that_fails_ends_the_call_and_closes_what_was_open() {
    let log = Log::default();
    let executor = builder([USE_TWO])
        .resource(Held::<1>::opener(&log))
        .resource(|_| async { Err::<Held<2>, _>(ToolError::new("busy", "all are in use")) })
        .build()
        .unwrap();
    assert_eq!(kind(&executor.call(&Call::new("use_two", SUCCEED)).await), "busy");
    assert_eq!(log.lines(), ["open 1", "close 1 Failed"]);
}

#[tokio::test]
async fn nothing_is_opened_for_a_call_whose_input_is_wrong() {
    let log = Log::default();
    let executor = builder([USE_TWO])
        .resource(Held::<1>::opener(&log))
        .resource(Held::<2>::opener(&log))
        .build()
        .unwrap();
    assert_eq!(kind(&executor.call(&Call::new("use_two", "{}")).await), "invalid_input");
    assert!(log.lines().is_empty());
}

/// Holds a resource and never ends.
#[tool]
async fn hold_forever(held: &mut Held<3>) {
    let _ = held;
    crate::support::forever::<()>().await;
}

/// Holds a resource and has a defect.
#[tool]
async fn hold_and_panic(held: &mut Held<3>) {
    let _ = held;
    tokio::task::yield_now().await;
    panic!("a defect");
}

#[tokio::test(start_paused = true)]
async fn a_call_cut_short_drops_its_resource_without_closing_it() {
    let log = Log::default();
    let executor =
        builder([HOLD_FOREVER, HOLD_AND_PANIC]).resource(Held::<3>::opener(&log)).build().unwrap();
    let token = tokio_util::sync::CancellationToken::new();
    let cancelled = answer(&executor, call("hold_forever").cancelled_by(token.clone()));
    let (cancelled, ()) = tokio::join!(cancelled, async { token.cancel() });
    assert_eq!(kind(&cancelled), "cancelled");
    assert_eq!(kind(&executor.call(&call("hold_forever")).await), "timeout");
    assert_eq!(kind(&executor.call(&call("hold_and_panic")).await), "panic");
    assert_eq!(log.lines(), ["open 3", "drop 3"].repeat(3));
}

/// One lock for a whole database, as an embedded one has.
#[derive(Clone)]
struct Lock(Arc<tokio::sync::Mutex<()>>);

/// The lock while it is held.
struct Locked(#[expect(dead_code, reason = "held, not used")] tokio::sync::OwnedMutexGuard<()>);

impl Resource for Locked {
    async fn close(self, _: Closing) -> Result<(), ToolError> {
        Ok(())
    }
}

/// Hangs with the lock.
#[tool]
async fn hang_with_lock(locked: &mut Locked) {
    let _ = locked;
    crate::support::forever::<()>().await;
}

/// Takes the lock for a moment.
#[tool]
async fn take_lock(locked: &mut Locked) -> &'static str {
    let _ = locked;
    "taken"
}

/// S0.25: a tool that hangs with the connection holds the lock, until its time is up and the lock
/// is free for others.
#[tokio::test(start_paused = true)]
async fn a_tool_that_hangs_with_a_lock_loses_it_with_its_time() {
    let lock = Lock(Arc::default());
    let executor = builder([HANG_WITH_LOCK, TAKE_LOCK])
        .service(lock.clone())
        .resource(|opening: Opening| async move {
            let lock = opening.service::<Lock>().expect("registered");
            Ok(Locked(lock.0.clone().lock_owned().await))
        })
        .build()
        .unwrap();
    let hanging = answer(&executor, call("hang_with_lock"));
    let look = async {
        tokio::task::yield_now().await;
        lock.0.try_lock().is_err()
    };
    let (hung, was_held) = tokio::join!(hanging, look);
    assert!(was_held);
    assert_eq!(kind(&hung), "timeout");
    assert_eq!(executor.call(&call("take_lock")).await.text(), "taken");
}

/// Says for which call it was opened.
struct Opened(String);

impl Resource for Opened {
    async fn close(self, _: Closing) -> Result<(), ToolError> {
        Ok(())
    }
}

/// Says what its resource says.
#[tool]
async fn say_opened(opened: &mut Opened) -> String {
    opened.0.clone()
}

#[tokio::test]
async fn an_opener_knows_the_call_the_run_and_their_services() {
    let executor = builder([SAY_OPENED])
        .per_run::<Log>()
        .resource(|opening: Opening| async move {
            let context = opening.context();
            opening.service::<Log>().expect("of the run").add("opened");
            Ok(Opened(format!("{} {:?}", context.tool(), context.provider_id())))
        })
        .build()
        .unwrap();
    let log = Log::default();
    let run = executor.run("r").with(log.clone()).start().unwrap();
    let answer = run.call(&call("say_opened").id("toolu_9")).await;
    assert_eq!(answer.text(), r#"say_opened Some("toolu_9")"#);
    assert_eq!(log.lines(), ["opened"]);
}
