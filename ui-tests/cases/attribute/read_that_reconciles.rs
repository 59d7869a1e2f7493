// A tool whose effect is `read` is run again after a crash.
use toolwright::{Reconciled, tool};

async fn found_out() -> Reconciled {
    Reconciled::Unknown
}

/// Reads a file.
#[tool(effect = read, reconcile = found_out)]
async fn read_file() {}

fn main() {}
