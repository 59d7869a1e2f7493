// What a preview gives is text.
use toolwright::tool;

/// Pays.
#[tool(preview = |cents| cents + 1)]
async fn pay(
    /// How much.
    cents: u64,
) {
    let _ = cents;
}

fn main() {}
