// A reconciling function takes the tool's own parameters.
use toolwright::{Reconciled, tool};

async fn found_out(id: u64) -> Reconciled {
    let _ = id;
    Reconciled::Unknown
}

/// Removes a file.
#[tool(reconcile = found_out)]
async fn remove(
    /// Which file.
    path: String,
) {
    let _ = path;
}

fn main() {}
