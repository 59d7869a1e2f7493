// What a reconciling closure gives says whether the call happened.
use toolwright::tool;

/// Pays.
#[tool(reconcile = |cents| cents > 1)]
async fn pay(
    /// How much.
    cents: u64,
) {
    let _ = cents;
}

fn main() {}
