// Only an async closure awaits.
use toolwright::tool;

async fn shown(from: String) -> String {
    from
}

/// Pays.
#[tool(preview = |from| shown(from).await)]
async fn pay(
    /// Who pays.
    from: String,
) {
    let _ = from;
}

fn main() {}
