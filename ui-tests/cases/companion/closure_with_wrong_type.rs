// A type in a closure is that of the tool's parameter.
use toolwright::tool;

/// Pays.
#[tool(preview = |from: u64| format!("{from}"))]
async fn pay(
    /// Who pays.
    from: String,
) {
    let _ = from;
}

fn main() {}
