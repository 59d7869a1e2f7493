// A future is awaited, in a closure that is async.
use toolwright::tool;

async fn shown(from: String) -> String {
    from
}

/// Pays.
#[tool(preview = |from| shown(from))]
async fn pay(
    /// Who pays.
    from: String,
) {
    let _ = from;
}

fn main() {}
