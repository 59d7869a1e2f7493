//! A name that nobody registered is looked for before the model is told that there is no such tool.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolwright::policy::{Mode, Policy, Protection};
use toolwright::{
    Danger, DeclaredDanger, DynamicTool, Effect, ErrorClass, Executor, Profile, Registry,
    RegistryEventKind, ToolError,
};

use crate::support::{Log, PING, answer, builder, call, kind};

/// A tool that says its name, and reads, so that it would be safe if it said so itself.
fn remote(name: &str) -> DynamicTool {
    let said = name.to_owned();
    DynamicTool::new(name, "Does something far away.", json!({"type": "object"}), move |_, _| {
        let said = said.clone();
        async move { Ok(said) }
    })
    .effect(Effect::Read)
}

fn known(name: &str) -> Option<DynamicTool> {
    name.starts_with("mcp_").then(|| remote(name))
}

fn resolving() -> Executor {
    builder([PING]).resolver(known).build().unwrap()
}

/// S1.50: a resolver is a function from a name to a tool or nothing.
/// S1.51: an unknown name is given to it; what it gives is registered and called at once.
#[tokio::test]
async fn what_a_resolver_knows_is_registered_and_called_at_once() {
    let (executor, log) = (resolving(), Log::default());
    let heard = log.clone();
    let listening = executor.registry().listen(move |event| {
        assert_eq!(event.kind, RegistryEventKind::Registered);
        heard.add(&*event.name);
    });
    assert_eq!(executor.call(&call("mcp_search")).await.text(), "mcp_search");
    assert_eq!(executor.call(&call("mcp_search")).await.text(), "mcp_search");
    assert_eq!(log.lines(), ["mcp_search"], "once");
    assert!(executor.catalog().get("mcp_search").is_some());
    drop(listening);
}

#[tokio::test]
async fn what_no_resolver_knows_is_answered_with_near_names() {
    let executor = resolving();
    let answer = executor.call(&call("pin")).await;
    assert_eq!(kind(&answer), "unknown_tool");
    assert_eq!(answer.error().unwrap().next_action(), Some("did you mean `ping`?"));
}

#[tokio::test]
async fn a_tool_that_a_resolver_gives_is_at_least_moderate() {
    let executor = resolving();
    executor.call(&call("mcp_search")).await;
    let declared = executor.registry().get("mcp_search").unwrap().danger;
    assert_eq!(declared, DeclaredDanger::Level(Danger::Moderate));
    assert_eq!(executor.examine(&call("mcp_search")).unwrap().danger, Danger::Moderate);
    let judging = |name: &str| Some(remote(name).danger_by(|_| Danger::Safe));
    let executor = builder([]).resolver(judging).build().unwrap();
    executor.call(&call("any")).await;
    assert_eq!(executor.examine(&call("any")).unwrap().danger, Danger::Moderate);
    let worse = |name: &str| Some(remote(name).danger(Danger::Critical));
    let executor = builder([]).resolver(worse).build().unwrap();
    executor.call(&call("any")).await;
    assert_eq!(executor.examine(&call("any")).unwrap().danger, Danger::Critical);
}

/// What a resolver brings, with protections off and in a mode that asks about nothing of its danger.
fn lax(resolver: impl toolwright::Resolver) -> Executor {
    let policy = Policy::builder().mode(Mode::AutoSafe).without(Protection::ALL);
    Executor::builder(Registry::of([PING]).unwrap())
        .policy(policy)
        .resolver(resolver)
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_tool_that_a_resolver_gives_asks_because_its_name_alone_is_known() {
    let executor = lax(known);
    // The call that brings it, and those that find it registered.
    for _ in 0..2 {
        let asked = executor.call(&call("mcp_search")).await;
        assert_eq!(kind(&asked), "approval_required");
        let words = asked.error().unwrap().to_string();
        assert!(words.contains("(it was found by its name alone)"), "{words}");
    }
    let explained = executor.explain(&call("mcp_search")).unwrap();
    assert_eq!(explained.because(), ["tool"]);
    let turn = executor.pinned(&executor.catalog());
    assert_eq!(kind(&turn.call(&call("mcp_search")).await), "approval_required");
    assert_eq!(kind(&turn.call(&call("mcp_other")).await), "approval_required");
    assert_eq!(kind(&executor.call(&call("ping")).await), "ok", "the application named it");
}

#[tokio::test]
async fn a_reason_of_its_own_is_asked_for_in_place_of_the_name_alone() {
    let own = |name: &str| Some(remote(name).approval("it costs"));
    let computed = |name: &str| Some(remote(name).approval_by(|_| Some("it costs today".into())));
    let unasked = |name: &str| Some(remote(name).approval_by(|_| None));
    for (executor, reason) in [
        (lax(own), "(it costs)"),
        (lax(computed), "(it costs today)"),
        (lax(unasked), "(it was found by its name alone)"),
    ] {
        let asked = executor.call(&call("any")).await;
        assert_eq!(kind(&asked), "approval_required", "{reason}");
        assert!(asked.text().contains(reason), "{reason}: {}", asked.text());
    }
}

#[tokio::test]
async fn however_many_call_a_name_at_once_it_is_looked_for_once() {
    let asked = Arc::new(AtomicU32::new(0));
    let counts = asked.clone();
    let slow = move |name: String| {
        counts.fetch_add(1, Ordering::SeqCst);
        async move {
            tokio::task::yield_now().await;
            Ok(Some(remote(&name)))
        }
    };
    let executor = builder([]).resolver_async(slow).limit(100).build().unwrap();
    let answers = join_all((0..50).map(|_| answer(&executor, call("mcp_search")))).await;
    assert!(answers.iter().all(|answer| answer.text() == "mcp_search"));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_failure_is_told_to_all_who_wait_and_the_next_call_asks_again() {
    let asked = Arc::new(AtomicU32::new(0));
    let counts = asked.clone();
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let waits = gate.clone();
    let failing = move |name: String| {
        let (attempt, waits) = (counts.fetch_add(1, Ordering::SeqCst), waits.clone());
        async move {
            waits.acquire().await.unwrap().forget();
            match attempt {
                0 => Err(ToolError::new("unreachable", "the server cannot be reached")
                    .class(ErrorClass::NotStarted { retry_after: None })),
                _ => Ok(Some(remote(&name))),
            }
        }
    };
    let executor = builder([]).resolver_async(failing).build().unwrap();
    let calls = join_all((0..3).map(|_| answer(&executor, call("mcp_search"))));
    let (answers, ()) = tokio::join!(calls, async { gate.add_permits(2) });
    for answer in &answers {
        let error = answer.error().unwrap();
        assert_eq!(error.kind(), "unresolved_tool");
        assert_eq!(
            error.message(),
            "whether there is a tool `mcp_search` could not be found out: the server cannot be reached"
        );
        assert_eq!(error.classified(), ErrorClass::NotStarted { retry_after: None });
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert_eq!(executor.call(&call("mcp_search")).await.text(), "mcp_search");
}

#[tokio::test]
async fn a_resolver_that_panics_or_gives_nonsense_fails_its_call_alone() {
    let defective = |name: &str| match name {
        "panics" => panic!("a defect in a resolver"),
        "other" => Some(remote("another")),
        "wrong" => Some(DynamicTool::new(name, "Wrong.", json!([]), |_, _| async { Ok(1) })),
        _ => None,
    };
    let executor = builder([PING]).resolver(defective).build().unwrap();
    for (name, cause) in [
        ("panics", "the resolver panicked"),
        ("other", "asked for `other`, the resolver gave Registration(another at "),
        ("wrong", "the tool `wrong` at "),
    ] {
        let answer = executor.call(&call(name)).await;
        let error = answer.error().unwrap();
        assert_eq!(error.kind(), "unresolved_tool");
        assert!(error.source().unwrap().to_string().contains(cause), "{error:?}");
        assert!(!error.message().contains(cause), "operators alone are told");
    }
    assert_eq!(executor.catalog().names().collect::<Vec<_>>(), ["ping"]);
    assert_eq!(executor.call(&call("ping")).await.text(), "pong");
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_resolver_may_be_cancelled_or_run_out_of_time() {
    let never = |_: String| crate::support::forever::<Result<Option<DynamicTool>, ToolError>>();
    let executor =
        builder([]).resolver_async(never).timeout(Some(Duration::from_secs(5))).build().unwrap();
    assert_eq!(kind(&executor.call(&call("mcp_search")).await), "timeout");
    let token = CancellationToken::new();
    token.cancel();
    let cancelled = call("mcp_search").cancelled_by(token);
    assert_eq!(kind(&executor.call(&cancelled).await), "cancelled");
}

/// Gives a tool after half a minute, in which a person signs in.
struct SigningIn;

impl toolwright::Resolver for SigningIn {
    fn resolve<'a>(
        &'a self,
        name: &'a str,
    ) -> futures::future::BoxFuture<'a, Result<Option<toolwright::Registration>, ToolError>> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_secs(30)).await;
            Ok(Some(remote(name).into()))
        })
    }

    fn timeout(&self) -> Option<Duration> {
        Some(Duration::from_secs(60))
    }
}

#[tokio::test(start_paused = true)]
async fn a_resolver_says_where_it_takes_longer_than_a_tool_may() {
    let builder = builder([]).resolver(SigningIn).timeout(Some(Duration::from_secs(5)));
    let executor = builder.build().unwrap();
    assert_eq!(executor.call(&call("mcp_a")).await.text(), "mcp_a");
}

#[tokio::test]
async fn a_flight_goes_on_without_the_one_who_began_it() {
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let asked = Arc::new(AtomicU32::new(0));
    let (waits, counts) = (gate.clone(), asked.clone());
    let slow = move |name: String| {
        counts.fetch_add(1, Ordering::SeqCst);
        let waits = waits.clone();
        async move {
            waits.acquire().await.unwrap().forget();
            Ok(Some(remote(&name)))
        }
    };
    let executor = builder([]).resolver_async(slow).build().unwrap();
    let token = CancellationToken::new();
    let first = answer(&executor, call("mcp_a").cancelled_by(token.clone()));
    let second = answer(&executor, call("mcp_a"));
    let steps = async {
        tokio::task::yield_now().await;
        token.cancel();
        tokio::task::yield_now().await;
        gate.add_permits(1);
    };
    let (first, second, ()) = tokio::join!(first, second, steps);
    assert_eq!((kind(&first), &*second.text()), ("cancelled".to_owned(), "mcp_a"));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_resolver_is_not_asked_for_what_is_registered_or_disabled() {
    let asked = Log::default();
    let asks = asked.clone();
    let curious = move |name: &str| {
        asks.add(name);
        None::<DynamicTool>
    };
    let executor = builder([PING]).resolver(curious).build().unwrap();
    executor.call(&call("ping")).await;
    executor.registry().disable("ping").unwrap();
    assert_eq!(kind(&executor.call(&call("ping")).await), "disabled_tool");
    let turn = executor.pinned(&executor.catalog());
    assert_eq!(kind(&turn.call(&call("ping")).await), "unknown_tool");
    assert_eq!(asked.lines(), Vec::<String>::new());
}

#[tokio::test]
async fn through_a_pinned_catalog_a_resolver_gives_what_its_profile_selects() {
    let executor = resolving();
    let all = executor.pinned(&executor.catalog());
    for _ in 0..2 {
        assert_eq!(all.call(&call("mcp_search")).await.text(), "mcp_search");
    }
    let narrow = executor.catalog().select(&Profile::new(["ping"]).unwrap()).unwrap();
    let narrow = executor.pinned(&narrow);
    for name in ["mcp_search", "mcp_other"] {
        assert_eq!(kind(&narrow.call(&call(name)).await), "unknown_tool");
    }
    let wide = executor.catalog().select(&Profile::new(["mcp_*"]).unwrap()).unwrap();
    assert_eq!(executor.pinned(&wide).call(&call("mcp_third")).await.text(), "mcp_third");
}

#[tokio::test]
async fn listeners_hear_of_a_resolved_call_from_its_start_to_its_end() {
    let log = Log::default();
    let executor = builder([]).resolver(known).listen(log.listener()).build().unwrap();
    executor.call(&call("mcp_search")).await;
    executor.call(&call("unknown")).await;
    assert_eq!(log.lines(), ["started", "executing", "completed", "started", "failed"]);
}
