//! The repair ladder: its rules by hand, and its laws by property. Calls of real models are in `oracles`.

mod beside;
mod calls;
mod hostile;
mod laws;
mod refusals;
mod rules;

use serde_json::Value;
use toolwright::Repair;
use toolwright::repair::replay;
use toolwright::unstable::repair::{Refusal, RepairedInput, Repairer, TruncatedInput};

/// Repairs by a schema, and checks what holds of every repair.
fn repair_at(
    schema: &Value,
    text: &str,
    level: Repair,
    brackets: TruncatedInput,
) -> Result<RepairedInput, Refusal> {
    let ladder = Repairer::new(schema, []).expect("the schema is right");
    let outcome = ladder.repair(text, level, brackets);
    if let Ok(repaired) = &outcome {
        let replayed = replay(text, &repaired.changes);
        assert_eq!(replayed.as_deref(), Some(repaired.text.as_str()), "{:#?}", repaired.changes);
    }
    outcome
}

/// The text that a standard repair gives, or `refused`.
fn standard(schema: &Value, text: &str) -> String {
    told(repair_at(schema, text, Repair::Standard, TruncatedInput::Refused))
}

fn lenient(schema: &Value, text: &str) -> String {
    told(repair_at(schema, text, Repair::Lenient, TruncatedInput::Refused))
}

fn closed(schema: &Value, text: &str) -> String {
    told(repair_at(schema, text, Repair::Standard, TruncatedInput::Completed))
}

fn told(outcome: Result<RepairedInput, Refusal>) -> String {
    outcome.map_or_else(|_| "refused".to_owned(), |repaired| repaired.text)
}

/// How many cases a property has; `PROPTEST_CASES` says otherwise.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(256)
}
