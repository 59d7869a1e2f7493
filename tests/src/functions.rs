//! An annotated function is still the function it was: typed, and called as such.

use toolwright::{Call, Repair, ToolContext, ToolError, ToolEvent, ToolEventKind, data, tool};

use crate::support::{Log, builder, kind, strict};

/// How a search goes about it.
#[data]
#[derive(PartialEq, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Order {
    /// Newest first.
    Newest,
    /// By title.
    Title,
}

/// What was found.
#[data]
#[derive(Debug, PartialEq)]
struct Found {
    /// The titles.
    titles: Vec<String>,
}

/// Searches notes.
#[tool(effect = read)]
async fn search_by_order(
    context: &ToolContext,
    log: &Log,
    /// What to look for.
    query: String,
    /// In which order.
    order: Order,
) -> Result<Found, ToolError> {
    log.add(context.tool());
    if query.is_empty() {
        return Err(ToolError::invalid("the query is empty"));
    }
    Ok(Found { titles: vec![format!("{query} {}", order == Order::Newest)] })
}

/// S0.13: input and output are the function's own types, which rustc checks where it is called.
/// S0.80: the input's type is the parameters', written once and nowhere declared again.
/// S3.5: the output's type is what the function returns, inferred where it is called.
#[tokio::test]
async fn a_tool_is_called_directly_with_typed_input_and_gives_its_typed_output() {
    let (context, log) = (ToolContext::test(), Log::default());
    let found = search_by_order(&context, &log, "milk".to_owned(), Order::Newest).await;
    let titles: Vec<String> = found.unwrap().titles;
    assert_eq!(titles, ["milk true"]);
    let refused: ToolError =
        search_by_order(&context, &log, String::new(), Order::Title).await.unwrap_err();
    assert_eq!(refused.message(), "the query is empty");
}

/// S0.12: the function gets its input checked and typed, and the context of the call.
/// S1.22: what runs is the function, given the arguments.
/// S3.7: invoking is one call with the input, which gives the output.
/// S3.9: the input that arrives is the parsed one, here an enum.
#[tokio::test]
async fn through_the_executor_the_same_function_gets_checked_input_and_its_context() {
    let log = Log::default();
    let executor = builder([SEARCH_BY_ORDER]).service(log.clone()).build().unwrap();
    let answer =
        executor.call(&Call::new("search_by_order", r#"{"query":"milk","order":"newest"}"#)).await;
    assert_eq!(answer.text(), r#"{"titles":["milk true"]}"#);
    assert_eq!(log.lines(), ["search_by_order"]);
}

/// S3.53: input is checked at the boundary, so a body that would run on wrong input never does.
#[tokio::test]
async fn a_body_never_sees_input_that_its_types_refuse() {
    let log = Log::default();
    let executor =
        builder([SEARCH_BY_ORDER]).service(log.clone()).repair(Repair::Off).build().unwrap();
    for wrong in [
        r#"{"query":"milk","order":"oldest"}"#,
        r#"{"query":7,"order":"newest"}"#,
        r#"{"query":"milk"}"#,
        "",
        "[]",
    ] {
        let answer = executor.call(&Call::new("search_by_order", wrong)).await;
        assert_eq!(kind(&answer), "invalid_input", "{wrong}");
    }
    assert!(log.lines().is_empty());
}

/// S1.67: the tool's function runs once, after its input was read and before the call is answered.
#[tokio::test]
async fn the_function_runs_once_between_reading_and_answering() {
    let log = Log::default();
    let heard = log.clone();
    let executor = builder([SEARCH_BY_ORDER])
        .service(log.clone())
        .listen(move |event: &ToolEvent<'_>| match event.kind {
            ToolEventKind::Executing => heard.add("read"),
            ToolEventKind::Completed { .. } => heard.add("answered"),
            _ => {}
        })
        .build()
        .unwrap();
    executor.call(&Call::new("search_by_order", r#"{"query":"milk","order":"title"}"#)).await;
    assert_eq!(log.lines(), ["read", "search_by_order", "answered"]);
}

/// Adds.
#[tool(effect = read)]
pub async fn add_numbers(
    /// One.
    one: u32,
    /// Another.
    other: u32,
) -> u32 {
    one + other
}

/// S2.59: a function tool is made, run, and its input checked.
#[tokio::test]
async fn a_function_tool_is_made_run_and_checked() {
    assert_eq!(add_numbers(1, 2).await, 3);
    let executor = strict([ADD_NUMBERS]);
    let sum = executor.call(&Call::new("add_numbers", r#"{"one":1,"other":2}"#)).await;
    assert_eq!(sum.text(), "3");
    let wrong = executor.call(&Call::new("add_numbers", r#"{"one":1,"other":"2"}"#)).await;
    assert_eq!(kind(&wrong), "invalid_input");
}
