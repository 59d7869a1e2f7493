// A call does not say that its arguments are the tool's parameters; a closure does.
use toolwright::tool;

async fn shown(from: String) -> String {
    from
}

/// Pays.
#[tool(preview = shown(from))]
async fn pay(
    /// Who pays.
    from: String,
) {
    let _ = from;
}

fn main() {}
