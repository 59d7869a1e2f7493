//! How parents and children end: cancelled, failed, tried again, drained.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolwright::retry::RetryPolicy;
use toolwright::{Call, Calls, ErrorClass, ToolContext, ToolError, tool};

use super::{RELAY, relayed};
use crate::support::{Log, NEVER_ENDS, Turnstile, WAIT_FOR_GO, builder, call, ended, kind};

/// Says when it is dropped.
struct Leaves<'a>(&'a Log);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.0.add("child dropped");
    }
}

/// Waits for ever.
#[tool(effect = read, reads())]
async fn wait(log: &Log) {
    let _leaves = Leaves(log);
    log.add("child begun");
    crate::support::forever().await
}

/// Pays, each time that it is called.
#[tool(unlinked, effect = once)]
async fn pay(log: &Log) -> &'static str {
    log.add("paid");
    "receipt 1"
}

/// Pays, and loses its connection at first.
#[tool(effect = idempotent, retry(attempts = 3))]
async fn order(calls: &Calls, tries: &AtomicU32) -> Result<String, ToolError> {
    let receipt: String = calls.to(PAY).await_as().await?;
    match tries.fetch_add(1, Ordering::SeqCst) {
        0 => Err(ToolError::new("lost", "the connection was lost").class(ErrorClass::Transient)),
        _ => Ok(receipt),
    }
}

/// Says that nothing has begun.
#[tool(effect = once, retry(attempts = 1))]
async fn busy() -> Result<(), ToolError> {
    let class = ErrorClass::NotStarted { retry_after: None };
    Err(ToolError::new("busy", "nothing is taken now").class(class))
}

/// Counts how often it runs, and fails as its child does.
#[tool(effect = once, retry(attempts = 3))]
async fn try_once(calls: &Calls, log: &Log) -> Result<(), ToolError> {
    log.add("tried");
    calls.to(BUSY).await_as().await
}

/// Calls from a thread, for as long as it is let.
#[tool(effect = read, blocking)]
fn call_from_thread(calls: &Calls, context: &ToolContext, log: &Log) {
    log.add("begun");
    let child = call("never_ends");
    let answer = futures::executor::block_on(calls.call(&child));
    log.add(format!("{} {}", kind(&answer), context.is_cancelled()));
}

#[tokio::test]
async fn a_parent_that_is_cancelled_cancels_its_child() {
    let log = Log::default();
    let executor = builder([RELAY, WAIT]).service(log.clone()).build().unwrap();
    let token = CancellationToken::new();
    let parent = relayed("wait", "{}").cancelled_by(token.clone());
    let cancel = async {
        while log.count("child begun") == 0 {
            tokio::task::yield_now().await;
        }
        token.cancel();
    };
    let (answer, ()) = tokio::join!(executor.call(&parent), cancel);
    assert_eq!(kind(&answer), "cancelled");
    assert_eq!(log.lines(), ["child begun", "child dropped"]);
}

#[tokio::test]
async fn a_child_that_is_called_from_a_thread_ends_with_its_parent() {
    let log = Log::default();
    let builder = builder([CALL_FROM_THREAD, NEVER_ENDS]).service(log.clone());
    let executor = builder.build().unwrap();
    let token = CancellationToken::new();
    let parent = call("call_from_thread").cancelled_by(token.clone());
    let lines = async |number: usize| {
        while log.lines().len() < number {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let cancel = async {
        lines(1).await;
        token.cancel();
    };
    let (answer, ()) = ended(async { tokio::join!(executor.call(&parent), cancel) }).await;
    assert_eq!(kind(&answer), "cancelled");
    ended(lines(2)).await;
    assert_eq!(log.lines(), ["begun", "cancelled true"]);
}

#[tokio::test]
async fn a_parent_that_is_tried_again_runs_no_child_twice() {
    let (log, tries) = (Log::default(), Arc::new(AtomicU32::new(0)));
    let executor = builder([ORDER, PAY])
        .service(log.clone())
        .service_arc(Arc::clone(&tries))
        .retry(RetryPolicy::TOOL.delay(Duration::from_millis(1)))
        .build()
        .unwrap();
    assert_eq!(executor.call(&call("order")).await.text(), "receipt 1");
    assert_eq!((tries.load(Ordering::SeqCst), log.count("paid")), (2, 1));
}

/// The child may be tried again; the parent has begun, whatever its child says.
#[tokio::test]
async fn a_parent_is_not_tried_again_because_its_child_did_not_begin() {
    let log = Log::default();
    let executor = builder([TRY_ONCE, BUSY]).service(log.clone()).build().unwrap();
    let answer = executor.call(&call("try_once")).await;
    let error = answer.error().unwrap();
    assert_eq!((error.kind(), error.classified()), ("busy", ErrorClass::Final));
    assert_eq!(log.count("tried"), 1);
}

#[tokio::test]
async fn a_parent_that_runs_while_its_executor_drains_gets_the_answers_of_its_children() {
    let turnstile = Turnstile::new();
    let executor =
        builder([RELAY, WAIT_FOR_GO]).service_arc(Arc::clone(&turnstile)).build().unwrap();
    /// Waits for one, and then for another.
    #[tool(effect = read, unlinked)]
    async fn wait_twice(calls: &Calls) -> Result<String, ToolError> {
        let first: String = calls.to(WAIT_FOR_GO).await_as().await?;
        let second: String = calls.to(WAIT_FOR_GO).await_as().await?;
        Ok(first + &second)
    }
    executor.registry().register(WAIT_TWICE).unwrap();
    let parent = call("wait_twice");
    let drain = async {
        turnstile.entered(1).await;
        let drained = executor.drain(Duration::from_secs(60));
        let go = async {
            turnstile.let_go(1);
            turnstile.entered(1).await;
            turnstile.let_go(1);
        };
        tokio::join!(drained, go).0
    };
    let (answer, drained) = ended(async { tokio::join!(executor.call(&parent), drain) }).await;
    assert_eq!((answer.text().as_ref(), drained.cancelled), ("wentwent", 0));
    assert_eq!(kind(&executor.call(&parent).await), "shutting_down");
}

#[tokio::test]
async fn calls_that_outlive_their_call_make_no_more() {
    use std::sync::Mutex;
    #[derive(Default)]
    struct Leaked(Mutex<Option<Calls>>);
    /// Lets its calls leak.
    #[tool(effect = read, unlinked)]
    async fn leak(calls: &Calls, leaked: &Leaked) {
        *leaked.0.lock().unwrap() = Some(calls.clone());
    }
    let (leaked, log) = (Arc::new(Leaked::default()), Log::default());
    let builder = builder([LEAK, PAY]).service_arc(Arc::clone(&leaked)).service(log.clone());
    let executor = builder.build().unwrap();
    executor.call(&call("leak")).await;
    let calls = leaked.0.lock().unwrap().take().unwrap();
    assert_eq!(kind(&calls.call(&Call::new("pay", "{}")).await), "cancelled");
    assert_eq!(log.count("paid"), 0);
}
