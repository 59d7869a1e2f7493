// `none` is a word, not a duration in quotes.
use toolwright::tool;

/// Counts.
#[tool(timeout = "none")]
async fn count() -> u64 {
    1
}

fn main() {}
