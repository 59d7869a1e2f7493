//! A plain function runs on the blocking pool and is otherwise a tool like any other.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;
use toolwright::{Call, ToolContext, ToolError, tool};

use crate::support::{Held, Log, answer, builder, call, ended, executor, kind};

/// Says on which thread it runs.
#[tool(effect = read, blocking)]
fn say_thread() -> String {
    format!("{:?}", std::thread::current().id())
}

#[tokio::test]
async fn a_plain_function_does_not_run_on_the_thread_of_the_caller() {
    let answer = executor([SAY_THREAD]).call(&call("say_thread")).await;
    assert!(answer.text().starts_with("ThreadId"));
    assert_ne!(answer.text(), format!("{:?}", std::thread::current().id()));
}

/// Uses what it is given.
#[tool(blocking)]
fn use_blocking(
    log: &Log,
    first: &mut Held<1>,
    second: &mut Held<2>,
    /// Whether to fail.
    fail: bool,
) -> Result<String, ToolError> {
    log.add("use");
    first.log.add("use 1");
    second.log.add("use 2");
    if fail { Err(ToolError::new("failed", "as told")) } else { Ok("used".to_owned()) }
}

#[tokio::test]
async fn resources_go_to_the_thread_and_come_back_to_be_closed() {
    for (input, outcome) in [(r#"{"fail":false}"#, "Succeeded"), (r#"{"fail":true}"#, "Failed")] {
        let log = Log::default();
        let executor = builder([USE_BLOCKING])
            .service(log.clone())
            .resource(Held::<1>::opener(&log))
            .resource(Held::<2>::opener(&log))
            .build()
            .unwrap();
        let answer = executor.call(&Call::new("use_blocking", input)).await;
        assert_eq!(answer.is_error(), outcome == "Failed");
        let closed = [format!("close 2 {outcome}"), format!("close 1 {outcome}")];
        assert_eq!(log.lines()[..5], ["open 1", "open 2", "use", "use 1", "use 2"]);
        assert_eq!(log.lines()[5..], closed);
    }
}

/// Has a defect.
#[tool(blocking)]
fn panic_blocking(held: &mut Held<1>) {
    let _ = held;
    panic!("the words of a panic");
}

#[tokio::test]
async fn a_panic_on_the_blocking_thread_is_answered_and_drops_the_resource() {
    let log = Log::default();
    let executor = builder([PANIC_BLOCKING]).resource(Held::<1>::opener(&log)).build().unwrap();
    let answer = executor.call(&call("panic_blocking")).await;
    assert_eq!(kind(&answer), "panic");
    assert!(!answer.text().contains("the words of a panic"));
    assert_eq!(answer.error().unwrap().source().unwrap().to_string(), "the words of a panic");
    assert_eq!(log.lines(), ["open 1", "drop 1"]);
}

/// Both ends of a conversation with a blocking tool.
struct Talk {
    says: Mutex<Sender<&'static str>>,
    hears: Mutex<Receiver<()>>,
}

/// Works until nobody waits any more.
#[tool(blocking, timeout = none)]
fn work_until_unwanted(context: &ToolContext, talk: &Talk) {
    talk.says.lock().unwrap().send("working").unwrap();
    talk.hears.lock().unwrap().recv().unwrap();
    let learnt = if context.is_cancelled() { "unwanted" } else { "wanted" };
    talk.says.lock().unwrap().send(learnt).unwrap();
}

#[tokio::test]
async fn a_blocking_tool_learns_that_nobody_waits_for_it() {
    for cancelled in [true, false] {
        let (says, from_tool) = channel();
        let (to_tool, hears) = channel();
        let talk = Talk { says: Mutex::new(says), hears: Mutex::new(hears) };
        let executor = builder([WORK_UNTIL_UNWANTED]).service(talk).build().unwrap();
        let token = CancellationToken::new();
        let mut running =
            Box::pin(answer(&executor, call("work_until_unwanted").cancelled_by(token.clone())));
        assert!(futures::poll!(&mut running).is_pending());
        assert_eq!(from_tool.recv(), Ok("working"));
        if cancelled {
            token.cancel();
            assert_eq!(kind(&ended(running).await), "cancelled");
        } else {
            drop(running);
        }
        to_tool.send(()).unwrap();
        assert_eq!(from_tool.recv(), Ok("unwanted"));
    }
}

#[test]
fn a_blocking_call_that_was_cancelled_before_its_thread_was_free_never_runs() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
    let log = Log::default();
    runtime.block_on(async {
        let executor =
            builder([WRITE_BLOCKING]).service(log.clone()).timeout(None).build().unwrap();
        let (free, occupied) = channel::<()>();
        let occupying = tokio::task::spawn_blocking(move || occupied.recv());
        let token = CancellationToken::new();
        let mut running =
            Box::pin(answer(&executor, call("write_blocking").cancelled_by(token.clone())));
        assert!(futures::poll!(&mut running).is_pending());
        token.cancel();
        assert_eq!(kind(&ended(running).await), "cancelled");
        free.send(()).unwrap();
        occupying.await.unwrap().unwrap();
        // Whatever was queued before this has run when this has.
        tokio::task::spawn_blocking(|| ()).await.unwrap();
    });
    assert!(log.lines().is_empty(), "the tool ran after its call was answered as cancelled");
}

/// Writes.
#[tool(blocking)]
fn write_blocking(log: &Log) {
    log.add("written");
}

/// A source of numbers.
trait Numbers: Send + Sync {
    fn next(&self) -> u32;
}

impl Numbers for u32 {
    fn next(&self) -> u32 {
        self + 1
    }
}

/// Gives the next number.
#[tool(effect = read, blocking)]
fn next_number(numbers: &dyn Numbers) -> u32 {
    numbers.next()
}

#[tokio::test]
async fn a_trait_object_goes_to_the_blocking_thread_too() {
    let numbers: Arc<dyn Numbers> = Arc::new(6);
    let executor = builder([NEXT_NUMBER]).service_arc(numbers).build().unwrap();
    assert_eq!(executor.call(&call("next_number")).await.text(), "7");
}
