//! A name that no tool has is answered with names that were probably meant.

use toolwright::{Call, ErrorClass, Executor, Registry, tool};

use crate::support::{PING, call, executor, kind};

/// Reads a ticket.
#[tool(effect = read)]
async fn read_ticket() {}

/// Reads tickets in bulk, for programs alone.
#[tool(effect = read, hidden)]
async fn read_tickets() -> &'static str {
    "read"
}

#[tokio::test]
async fn a_misspelt_name_is_answered_with_the_near_ones() {
    let answer = executor([READ_TICKET, PING]).call(&call("read_tiket")).await;
    let error = answer.error().unwrap();
    assert_eq!((error.kind(), error.classified()), ("unknown_tool", ErrorClass::Invalid));
    assert_eq!(error.next_action(), Some("did you mean `read_ticket`?"));
}

#[tokio::test]
async fn a_name_that_is_near_to_none_is_answered_with_all_of_a_few() {
    let answer = executor([READ_TICKET, PING]).call(&call("xyz")).await;
    assert_eq!(answer.error().unwrap().next_action(), Some("the tools are `read_ticket`, `ping`"));
}

#[tokio::test]
async fn without_tools_the_answer_says_so() {
    let answer = executor([]).call(&call("ping")).await;
    assert_eq!(answer.error().unwrap().next_action(), Some("there are no tools"));
}

#[tokio::test]
async fn a_hidden_tool_is_offered_to_nobody_and_runs_for_who_knows_it() {
    let executor = executor([READ_TICKETS, PING]);
    let answer = executor.call(&call("read_tiket")).await;
    assert_eq!(kind(&answer), "unknown_tool");
    assert!(!answer.text().contains("read_tickets"), "{}", answer.text());
    assert_eq!(executor.call(&call("read_tickets")).await.text(), "read");
}

#[tokio::test]
async fn a_name_that_is_near_to_none_of_many_is_not_answered_with_all_of_them() {
    let names = |count: usize| (1..=count).map(|number| PING.renamed(format!("tool_{number}")));
    let unknown = async |count: usize| {
        let registry = Registry::of(names(count)).unwrap();
        let executor = Executor::builder(registry).unrestricted().build().unwrap();
        let answer = executor.call(&call("xyz")).await;
        answer.error().unwrap().next_action().unwrap().to_owned()
    };
    assert!(unknown(10).await.ends_with("`tool_9`, `tool_10`"));
    assert_eq!(unknown(11).await, "call one of the tools that you were given");
}

#[tokio::test]
async fn of_a_name_that_is_a_whole_document_the_beginning_is_told() {
    let name = "ü".repeat(10_000);
    let answer = executor([PING]).call(&Call::new(&name, "{}")).await;
    let message = answer.error().unwrap().message();
    assert_eq!(message, format!("no tool is called `{}…`", "ü".repeat(100)));
}
