//! Calls that are carried out elsewhere: handed over with a token, and answered by who supplies a result.

mod building;
mod supplying;
mod waiting;

use std::time::Duration;

use serde_json::json;
use toolwright::journal::{HandedOver, Journal, State};
use toolwright::{Call, DynamicTool, Effect, Executor, ExecutorBuilder, Registry, tool};

use super::support::{Office, key, office, suspended};

/// What a visitor may pick.
#[toolwright::data]
#[derive(Debug)]
enum Colour {
    Red,
    Blue,
}

/// Lets the visitor pick a colour.
#[tool(name = "external_pick", external, unlinked, effect = read, timeout = "60s")]
async fn pick(
    /// What for.
    prompt: String,
) -> Colour;

/// Lets the visitor pay.
#[tool(name = "external_pay", external, unlinked, effect = once, approval = "it sends money")]
async fn pay(
    /// How much, in cents.
    #[arg(minimum = 1)]
    cents: u64,
    /// The number of the card.
    #[arg(secret)]
    card: Option<String>,
) -> String;

/// A tool of values: it takes any object, and gives a number.
fn count() -> DynamicTool {
    let schema = json!({"type": "object", "properties": {"of": {"type": "string"}}});
    DynamicTool::external("external_count", "Counts.", schema)
        .effect(Effect::Idempotent)
        .output_schema(json!({"type": "object", "properties": {"count": {"type": "integer"}},
            "required": ["count"], "additionalProperties": false}))
}

fn journal(office: &Office) -> Journal {
    office.parking().hand_over_key(key("executor", 9))
}

fn builder(office: &Office) -> ExecutorBuilder {
    let registry = Registry::of([PICK, PAY]).unwrap();
    registry.register(count()).unwrap();
    Executor::builder(registry).unrestricted().journal(journal(office))
}

fn executor(office: &Office) -> Executor {
    builder(office).build().unwrap()
}

fn a_pick() -> Call<'static> {
    Call::new("external_pick", r#"{"prompt":"the door?"}"#)
}

/// A call that was handed over.
async fn handed_over(executor: &Executor, call: &Call<'_>) -> HandedOver {
    let waits = suspended(executor.submit(call).await);
    assert_eq!(waits.state, State::HandedOver);
    *waits.handed_over.expect("it comes with all that is needed")
}

/// It only reads, but nothing here can run it before the turn is complete.
#[tokio::test]
async fn a_call_of_an_open_turn_is_handed_over_when_the_turn_is_complete() {
    let office = office();
    let mut turn = executor(&office).run("early").start().unwrap().open_turn(1);
    turn.push(a_pick());
    // The turn waits for the result.
    let finished = tokio::time::timeout(Duration::from_secs(1), turn.finish()).await;
    assert!(finished.is_err(), "the call was carried out here");
    let [record] = &office.records().await[..] else { panic!("one call") };
    assert_eq!(record.state, State::HandedOver);
}
