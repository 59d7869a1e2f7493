// `#[arg]` is for one parameter.
use toolwright::tool;

/// Searches.
#[tool(effect = read)]
#[arg(minimum = 1)]
async fn search(
    /// How many.
    limit: u64,
) -> u64 {
    limit
}

fn main() {}
