// A path hides the names of its parameters, so two of one type could change places.
use toolwright::tool;

async fn shown(to: String, from: String) -> String {
    format!("{from} to {to}")
}

/// Pays.
#[tool(preview = shown)]
async fn pay(
    /// Who pays.
    from: String,
    /// Who is paid.
    to: String,
) {
    let _ = (from, to);
}

fn main() {}
