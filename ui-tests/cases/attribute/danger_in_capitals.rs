// A level is written in small letters.
use toolwright::tool;

/// Counts.
#[tool(danger = Safe)]
async fn count() -> u64 {
    1
}

fn main() {}
