//! A catalog is what a model was shown: it does not change, and what is called through it is what it
//! shows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio_util::sync::CancellationToken;
use toolwright::dialect::Dialect;
use toolwright::policy::{Mode, Policy, PolicyDecision, Rule};
use toolwright::retry::RetryPolicy;
use toolwright::{ErrorClass, Executor, Exposure, Profile, Registry, ToolError, tool};

use crate::support::{Log, NEVER_ENDS, PING, WAIT_FOR_GO, answer, builder, call, executor, kind};

/// Says which one it is. The first of two.
#[tool(name = "which", effect = read)]
async fn first() -> &'static str {
    "first"
}

/// Says which one it is: the second.
#[tool(name = "which", effect = read)]
async fn second() -> &'static str {
    "second"
}

#[tokio::test]
async fn calls_through_a_pinned_catalog_run_what_was_shown_though_the_registry_has_moved_on() {
    let executor = executor([FIRST, PING]);
    let registry = executor.registry();
    let turn = executor.pinned(&registry.catalog());
    registry.unregister("which").unwrap();
    registry.register(SECOND).unwrap();
    registry.disable("ping").unwrap();
    assert_eq!(turn.call(&call("which")).await.text(), "first");
    assert_eq!(turn.call(&call("ping")).await.text(), "pong");
    assert_eq!(executor.call(&call("which")).await.text(), "second");
    assert_eq!(kind(&executor.call(&call("ping")).await), "disabled_tool");
    let next = executor.pinned(&registry.catalog());
    assert_eq!(next.call(&call("which")).await.text(), "second");
    assert_eq!(kind(&next.call(&call("ping")).await), "unknown_tool");
    assert_eq!(turn.catalog().names().collect::<Vec<_>>(), ["which", "ping"]);
    assert_eq!(
        turn.examine(&call("ping")).map(|facts| facts.danger).unwrap(),
        toolwright::Danger::Safe
    );
}

#[tokio::test]
async fn what_joined_after_a_catalog_was_taken_is_not_called_through_it() {
    let executor = executor([PING]);
    let turn = executor.pinned(&executor.catalog());
    executor.registry().register(FIRST).unwrap();
    let answer = turn.call(&call("whch")).await;
    assert_eq!(answer.error().unwrap().next_action(), Some("the tools are `ping`"));
    assert_eq!(kind(&turn.call(&call("which")).await), "unknown_tool");
}

#[test]
fn taking_a_catalog_again_gives_the_same_one_and_definitions_are_shared_between_all() {
    let registry = Registry::of([PING, FIRST]).unwrap();
    let (one, same) = (registry.catalog(), registry.catalog());
    assert!(std::ptr::eq(one.get("ping").unwrap(), same.get("ping").unwrap()));
    registry.register(WAIT_FOR_GO).unwrap();
    let later = registry.catalog();
    assert!(later.generation() > one.generation());
    assert!(std::ptr::eq(one.get("ping").unwrap(), later.get("ping").unwrap()));
    let some = later.select(&Profile::new(["ping"]).unwrap()).unwrap();
    assert!(std::ptr::eq(one.get("ping").unwrap(), some.get("ping").unwrap()));
    assert_eq!((one.len(), later.len(), some.len()), (2, 3, 1));
}

#[tokio::test]
async fn a_call_that_runs_ends_though_its_tool_is_unregistered_meanwhile() {
    let turnstile = crate::support::Turnstile::new();
    let executor = builder([PING]).service_arc(turnstile.clone()).build().unwrap();
    executor.registry().register(WAIT_FOR_GO).unwrap();
    let going = answer(&executor, call("wait_for_go"));
    let meanwhile = async {
        turnstile.entered(1).await;
        executor.registry().unregister("wait_for_go").unwrap();
        turnstile.let_go(1);
    };
    let (answer, ()) = tokio::join!(going, meanwhile);
    assert_eq!(answer.text(), "went");
}

/// What a run says.
struct Word(&'static str);

/// Says the run's word.
#[tool(effect = read)]
async fn say_word(word: &Word) -> &'static str {
    word.0
}

#[tokio::test]
async fn a_pinned_executor_is_the_same_run_with_its_services_limits_and_listeners() {
    let log = Log::default();
    let executor = builder([PING]).listen(log.listener()).per_run::<Word>().build().unwrap();
    executor.registry().register(SAY_WORD).unwrap();
    let run = executor.run("run").with(Word("word")).start().unwrap();
    let turn = run.pinned(&executor.catalog());
    assert_eq!(turn.call(&call("say_word")).await.text(), "word");
    assert_eq!(run.call(&call("say_word")).await.text(), "word");
    assert_eq!(log.count("completed"), 2);
    assert_eq!(executor.drain(std::time::Duration::ZERO).await.cancelled, 0);
    assert_eq!(kind(&turn.call(&call("ping")).await), "shutting_down");
}

/// Create an issue in the tracker. Needs a title.
#[tool(deferred, group = "tracker", tags("issues"))]
async fn create_issue(
    /// What it is about.
    title: String,
) -> String {
    title
}

/// Close an issue.
#[tool(deferred, group = "tracker")]
async fn close_issue() {}

/// Read a page of the wiki, e.g. one that an issue names.
#[tool(deferred, effect = read)]
async fn read_page() {}

/// Rotates keys.
#[tool(hidden)]
async fn rotate_issue_keys() {}

fn tracker() -> Registry {
    Registry::of([PING, CREATE_ISSUE, CLOSE_ISSUE, READ_PAGE, ROTATE_ISSUE_KEYS]).unwrap()
}

/// S1.52: a prompt gets name and first sentence of each tool, no schema.
#[test]
fn summaries_tell_name_and_first_sentence_of_what_a_model_may_know() {
    let catalog = tracker().catalog();
    let lines: Vec<String> = catalog.summaries().map(|summary| summary.to_string()).collect();
    assert_eq!(
        lines,
        [
            "ping: Answers",
            "create_issue: Create an issue in the tracker",
            "close_issue: Close an issue",
            "read_page: Read a page of the wiki, e.g. one that an issue names",
        ]
    );
    let deferred = catalog.summaries().filter(|it| it.exposure == Exposure::Deferred);
    assert_eq!(deferred.count(), 3);
}

#[test]
fn a_search_finds_deferred_tools_by_words_and_beginnings_best_first() {
    let catalog = tracker().catalog();
    let found = |query: &str, limit| -> Vec<String> {
        catalog.search(query, limit).into_iter().map(|it| it.name.clone()).collect()
    };
    assert_eq!(found("create issue", 5), ["create_issue", "close_issue", "read_page"]);
    // One names it in more places than the other.
    assert_eq!(found("ISSUE", 5), ["create_issue", "close_issue", "read_page"]);
    assert_eq!(found("iss", 2), ["create_issue", "close_issue"], "the limit holds");
    assert_eq!(found("wiki", 5), ["read_page"]);
    assert_eq!(found("tracker title", 5), ["create_issue", "close_issue"]);
    assert_eq!(found("ping rotate keys", 5), [""; 0], "shown already, or hidden");
    assert!(found("", 5).is_empty() && found("?!", 5).is_empty() && found("issue", 0).is_empty());
    assert_eq!(found(&"issue ".repeat(10_000), 5).len(), 3);
}

#[tokio::test]
async fn what_a_search_found_is_revealed_with_its_schema_and_nothing_else_is() {
    let registry = tracker();
    let catalog = registry.catalog();
    let listed = |catalog: &toolwright::Catalog, name: &str| {
        let listing = catalog.listing(Dialect::Anthropic).unwrap();
        listing.tools().get().contains(&format!(r#""name":"{name}""#))
    };
    assert!(listed(&catalog, "ping") && !listed(&catalog, "create_issue"));
    let revealed = catalog.revealing(["create_issue", "rotate_issue_keys"]).unwrap();
    assert!(listed(&revealed, "ping") && listed(&revealed, "create_issue"));
    assert!(!listed(&revealed, "close_issue") && !listed(&revealed, "rotate_issue_keys"));
    assert!(!listed(&catalog, "create_issue"), "the catalog is as it was");
    let narrowed = revealed.select(&Profile::new(["create_*", "read_*"]).unwrap()).unwrap();
    assert!(listed(&narrowed, "create_issue") && !listed(&narrowed, "read_page"));
    let error = catalog.revealing(["create_isue"]).unwrap_err();
    assert_eq!(error.near.first().map(String::as_str), Some("create_issue"));
    // A deferred tool can be called by who knows it.
    let executor = builder([]).build().unwrap().pinned(&revealed);
    let call = toolwright::Call::new("create_issue", r#"{"title":"a"}"#);
    assert_eq!(executor.call(&call).await.text(), "a");
}

#[tokio::test]
async fn catalogs_and_executors_are_shared_between_threads() {
    fn shared<T: Send + Sync + Clone + 'static>(_: &T) {}
    let executor = executor([PING]);
    shared(&executor.catalog());
    shared(executor.registry());
    shared(&executor.pinned(&executor.catalog()));
    let kept = Arc::new(executor.catalog());
    drop(executor);
    assert_eq!(kept.len(), 1, "a catalog outlives its registry");
}

/// Fails, and may be tried again.
#[tool(effect = read)]
async fn fail_again(tries: &AtomicU32) -> Result<(), ToolError> {
    tries.fetch_add(1, Ordering::SeqCst);
    Err(ToolError::new("busy", "too busy").class(ErrorClass::Transient))
}

#[tokio::test(start_paused = true)]
async fn a_pinned_executor_is_for_the_user_of_its_run_and_ends_with_it() {
    let no = Rule::deny("not for eve").named("eve").principal("eve");
    let executor = Executor::builder(Registry::of([PING, NEVER_ENDS]).unwrap())
        .policy(Policy::builder().mode(Mode::AutoSafe).rule(no))
        .build()
        .unwrap();
    let run = |user: &str, token: &CancellationToken| {
        let run = executor.run("run").user(user).cancelled_by(token.clone()).start().unwrap();
        [run.clone(), run.pinned(&run.catalog())]
    };
    let token = CancellationToken::new();
    for (user, end) in [("eve", "denied"), ("ada", "ok")] {
        for of_user in run(user, &token) {
            assert_eq!(kind(&of_user.call(&call("ping")).await), end, "{user}");
            let verdict = of_user.explain(&call("ping")).unwrap().verdict;
            assert_eq!(matches!(verdict, PolicyDecision::Allow), end == "ok", "{user}");
        }
    }
    let [_, pinned] = run("ada", &token);
    let never_ends = call("never_ends");
    let (running, ()) = tokio::join!(pinned.call(&never_ends), async { token.cancel() });
    assert_eq!(kind(&running), "cancelled");
    assert_eq!(kind(&pinned.call(&call("ping")).await), "cancelled");
}

#[tokio::test(start_paused = true)]
async fn the_retries_of_a_run_are_counted_through_every_catalog_that_it_pins() {
    let tries = Arc::new(AtomicU32::new(0));
    let executor = builder([FAIL_AGAIN])
        .service_arc(tries.clone())
        .retry(RetryPolicy::TOOL.attempts(9))
        .retries_per_run(3)
        .build()
        .unwrap();
    let run = executor.run("run").start().unwrap();
    run.pinned(&run.catalog()).call(&call("fail_again")).await;
    assert_eq!(tries.load(Ordering::SeqCst), 4);
    run.pinned(&run.catalog()).call(&call("fail_again")).await;
    run.call(&call("fail_again")).await;
    assert_eq!(tries.load(Ordering::SeqCst), 6, "nothing is left of the budget");
}
