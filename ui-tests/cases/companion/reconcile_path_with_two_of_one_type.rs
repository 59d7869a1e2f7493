// What a reconciling function looks for reaches it by name, as in a preview.
use toolwright::{Reconciled, tool};

async fn found(_to: u64, _from: u64) -> Reconciled {
    Reconciled::Unknown
}

/// Pays.
#[tool(reconcile = found)]
async fn pay(
    /// Who pays.
    from: u64,
    /// Who is paid.
    to: u64,
) {
    let _ = (from, to);
}

fn main() {}
