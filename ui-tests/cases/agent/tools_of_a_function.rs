// The tool of a function is the constant in capitals beside it.
use toolwright::tool;
use toolwright_agent::Agent;

/// Looks up what an article costs.
#[tool(effect = read)]
async fn price_of(
    /// The article.
    article: String,
) -> usize {
    article.len()
}

fn main() {
    let _ = Agent::builder("anthropic:some-model").tools([price_of]).build();
}
