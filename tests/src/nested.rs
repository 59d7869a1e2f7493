//! Tools that call tools, without a journal: what a child may do, who waits for whom, what ends with what.

mod access;
mod ends;
mod places;

use toolwright::policy::{Policy, Rule};
use toolwright::{Answer, Call, Calls, Output, Profile, ToolError, tool};

use crate::support::{Log, builder, call, executor, kind};

/// Tells the price of an article, in cents.
#[tool(effect = read, reads())]
async fn price_of(
    /// Which.
    article: String,
) -> Option<u32> {
    (article == "pen").then_some(120)
}

/// Tells what several of an article cost, in cents.
#[tool(effect = read, reads())]
async fn price_of_many(
    calls: &Calls,
    /// Which.
    article: String,
    /// How many.
    number: u32,
) -> Result<u32, ToolError> {
    let price = calls.to(PRICE_OF).with("article", &article).await_as::<Option<u32>>().await?;
    let missing = || ToolError::new("not_found", format!("no article is called `{article}`"));
    Ok(price.ok_or_else(missing)? * number)
}

/// Calls a tool as it is told, and tells the answer.
#[tool(effect = idempotent, writes())]
pub async fn relay(
    calls: &Calls,
    /// Which tool.
    tool: String,
    /// With which arguments.
    arguments: String,
) -> String {
    let answer = calls.call(&Call::new(tool, arguments)).await;
    format!("{}: {}", kind(&answer), answer.text())
}

/// Calls itself.
#[tool(effect = read)]
async fn call_itself(
    calls: &Calls,
    /// How deep it lies.
    depth: u32,
) -> Result<u32, ToolError> {
    calls.to(CALL_ITSELF).with("depth", &(depth + 1)).await_as().await
}

/// Calls the other one.
#[tool(effect = read)]
async fn one(calls: &Calls, log: &Log) -> Result<(), ToolError> {
    log.add("one");
    calls.to(OTHER).await_as().await
}

/// Calls the first one.
#[tool(unlinked, effect = read)]
async fn other(calls: &Calls, log: &Log) -> Result<(), ToolError> {
    log.add("other");
    calls.to(ONE).await_as().await
}

fn relayed(tool: &'static str, arguments: &str) -> Call<'static> {
    let arguments = serde_json::json!({"tool": tool, "arguments": arguments});
    Call::new("relay", arguments.to_string())
}

fn prices() -> [toolwright::Handle; 2] {
    [PRICE_OF, PRICE_OF_MANY]
}

#[tokio::test]
async fn a_tool_calls_another_and_reads_its_answer_as_a_value() {
    let executor = executor(prices());
    let answer = |arguments| answered(&executor, Call::new("price_of_many", arguments));
    assert_eq!(answer(r#"{"article":"pen","number":3}"#).await.text(), "360");
    let missing = answer(r#"{"article":"ink","number":3}"#).await;
    assert_eq!(kind(&missing), "not_found");
}

pub async fn answered(executor: &toolwright::Executor, call: Call<'static>) -> Answer {
    executor.call(&call).await
}

#[tokio::test]
async fn a_child_is_found_under_the_name_that_its_run_has_for_it() {
    use toolwright::{Executor, Registry};
    let registry = Registry::of([PRICE_OF_MANY]).unwrap();
    registry.register(PRICE_OF.renamed("tell_price")).unwrap();
    let executor = Executor::builder(registry).build().unwrap();
    let call = Call::new("price_of_many", r#"{"article":"pen","number":2}"#);
    assert_eq!(executor.call(&call).await.text(), "240");
}

#[tokio::test]
async fn an_answer_that_is_no_such_value_is_an_error_that_names_the_type() {
    let calls = Calls::test(|_| Answer::from(Output::text("a lot")));
    let error = calls.to(PRICE_OF).await_as::<Option<u32>>().await.unwrap_err();
    assert_eq!(error.kind(), "unexpected_answer");
    assert!(error.message().contains("`price_of`") && error.message().contains("u32"), "{error}");
    let text: String = calls.to(PRICE_OF).await_as().await.unwrap();
    assert_eq!(text, "a lot");
}

#[tokio::test]
async fn the_arguments_of_a_child_pass_the_strict_reader() {
    let executor = executor([RELAY, PRICE_OF]);
    let answer = executor.call(&relayed("price_of", r#"{"artikel":"pen"}"#)).await;
    assert!(answer.text().starts_with("invalid_input: "), "{}", answer.text());
}

#[tokio::test]
async fn a_child_may_call_what_the_run_was_shown_and_nothing_else() {
    let executor = executor([RELAY, PRICE_OF, CALL_ITSELF]);
    let shown = executor.catalog().select(&Profile::new(["*", "!price_of"]).unwrap()).unwrap();
    let pinned = executor.pinned(&shown);
    let arguments = r#"{"article":"pen"}"#;
    assert_eq!(answered(&executor, relayed("price_of", arguments)).await.text(), "ok: 120");
    let hidden = answered(&pinned, relayed("price_of", arguments)).await;
    assert!(hidden.text().starts_with("unknown_tool: "), "{}", hidden.text());
}

#[tokio::test]
async fn a_child_is_judged_by_the_policy_of_its_run() {
    let rule = Rule::deny("prices are secret").named("secret").tool("price_of");
    let policy = Policy::builder().rule(rule);
    let executor = builder([RELAY, PRICE_OF]).without_policy().policy(policy).build().unwrap();
    let direct = executor.call(&Call::new("price_of", r#"{"article":"pen"}"#)).await;
    assert_eq!(kind(&direct), "denied");
    let executor = {
        let rule = Rule::deny("prices are secret").named("secret").tool("price_of");
        let allow = Rule::allow("it relays").named("relays").tool("relay");
        let policy = Policy::builder().rule(rule).rule(allow);
        builder([RELAY, PRICE_OF]).without_policy().policy(policy).build().unwrap()
    };
    let answer = executor.call(&relayed("price_of", r#"{"article":"pen"}"#)).await;
    assert!(answer.text().starts_with("denied: "), "{}", answer.text());
}

#[tokio::test]
async fn a_child_that_a_person_would_have_to_decide_on_does_not_run_where_nobody_can_be_asked() {
    /// Pays.
    #[tool(effect = once, approval = "it costs money", writes(), unlinked)]
    async fn pay(log: &Log) {
        log.add("paid");
    }
    let log = Log::default();
    let executor = builder([RELAY, PAY]).service(log.clone()).build().unwrap();
    let answer = executor.call(&relayed("pay", "{}")).await;
    assert!(answer.text().starts_with("approval_required: "), "{}", answer.text());
    assert_eq!(log.lines(), [""; 0]);
}

#[tokio::test]
async fn calls_lie_at_most_eight_deep_in_each_other() {
    let log = Log::default();
    let executor = builder([CALL_ITSELF, ONE, OTHER]).service(log.clone()).build().unwrap();
    let answer = executor.call(&Call::new("call_itself", r#"{"depth":0}"#)).await;
    assert_eq!(kind(&answer), "too_deep");
    let answer = executor.call(&call("one")).await;
    assert_eq!(kind(&answer), "too_deep");
    assert_eq!(log.lines(), ["one", "other"].repeat(5)[..9], "one call, and eight below it");
}

#[tokio::test]
async fn the_middleware_of_an_executor_sees_parents_and_children() {
    use futures::FutureExt as _;
    use futures::future::BoxFuture;
    use toolwright::{BeforeCall, Middleware, MiddlewareCall};
    struct Seen(Log);
    impl Middleware for Seen {
        fn before<'a>(&'a self, call: &'a MiddlewareCall<'a>) -> BoxFuture<'a, BeforeCall> {
            self.0.add(call.definition().name.clone());
            std::future::ready(BeforeCall::Continue).boxed()
        }
    }
    let log = Log::default();
    let executor = builder(prices()).middleware(Seen(log.clone())).build().unwrap();
    let call = Call::new("price_of_many", r#"{"article":"pen","number":3}"#);
    assert_eq!(executor.call(&call).await.text(), "360");
    assert_eq!(log.lines(), ["price_of_many", "price_of"]);
}

#[tokio::test]
async fn what_only_looks_at_a_call_makes_none() {
    /// Writes, and shows beforehand what it would have called.
    #[tool(effect = once, preview = preview_write, approval = "it writes", unlinked)]
    async fn write(_calls: &Calls) {}
    async fn preview_write(calls: &Calls) -> String {
        calls.call(&call("ping")).await.text().into_owned()
    }
    use toolwright::approval::{Callback, Response};
    use toolwright::journal::{Journal, MemoryStore};
    let approver = Callback::new(|request| {
        assert!(request.preview.as_ref().unwrap().contains("not_running"), "{request:?}");
        Response::Reject { reason: None }
    });
    let builder = builder([WRITE, crate::support::PING]);
    let executor = builder.journal(Journal::new(MemoryStore::new())).ask(approver).build().unwrap();
    assert_eq!(kind(&executor.call(&call("write")).await), "rejected");
}
