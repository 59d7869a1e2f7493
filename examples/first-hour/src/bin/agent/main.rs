//! A loop of model and tools. It ends when a call of the terminal tool has succeeded.
mod model;

use first_hour::PRICE_OF;
use serde_json::{Value, json};
use toolwright::dialect::Dialect;
use toolwright::{Call, Executor, Registry, tool};

/// Give the user the final answer.
#[tool(effect = read, reads(), terminal)]
async fn finish(
    /// What the user reads.
    answer: String,
) -> String {
    answer
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let executor = Executor::builder(Registry::of([PRICE_OF, FINISH])?).build()?;
    let run = executor.run("question-1").start()?;
    let listing = executor.registry().listing(Dialect::Anthropic)?;
    let question = "What do tea and honey cost together, and is there coffee?";
    let mut messages = vec![json!({ "role": "user", "content": question })];
    for number in 1..=10 {
        let request = json!({ "model": "…", "max_tokens": 1024, "messages": &messages });
        let request = serde_json::to_string(&listing.request(request))?;
        let response = model::send(&request).await?;
        let message: Value = serde_json::from_str(&response)?;
        messages.push(json!({ "role": "assistant", "content": message["content"] }));
        let tool_calls = listing.tool_calls(&response)?;
        let calls: Vec<Call<'_>> = tool_calls.iter().map(Call::from).collect();
        let turn = run.turn(number, &calls).await?;
        for (call, answer) in calls.iter().zip(turn.answers()) {
            println!("turn {number}: {} {} -> {}", call.name(), call.arguments(), answer.text());
        }
        if turn.terminal_call().is_some() {
            return Ok(());
        }
        let answered: Vec<_> = tool_calls.into_iter().zip(turn).collect();
        messages.push(listing.tool_results(&answered)?);
    }
    Err("the model did not finish within ten turns".into())
}
