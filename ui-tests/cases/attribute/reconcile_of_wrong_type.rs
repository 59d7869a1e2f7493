// A reconciling function says whether the call happened.
use toolwright::tool;

async fn found_out() -> bool {
    true
}

/// Removes a file.
#[tool(reconcile = found_out)]
async fn remove() {}

fn main() {}
