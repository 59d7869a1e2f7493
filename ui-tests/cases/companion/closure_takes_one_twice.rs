// A closure takes a parameter once.
use toolwright::tool;

/// Pays.
#[tool(preview = |from, from| format!("{from}"))]
async fn pay(
    /// Who pays.
    from: String,
) {
    let _ = from;
}

fn main() {}
