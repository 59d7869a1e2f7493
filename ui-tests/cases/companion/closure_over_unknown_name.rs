// A closure takes the tool's parameters by their names.
use toolwright::tool;

/// Pays.
#[tool(preview = |form, to| format!("{form} to {to}"))]
async fn pay(
    /// Who pays.
    from: String,
    /// Who is paid.
    to: String,
) {
    let _ = (from, to);
}

fn main() {}
