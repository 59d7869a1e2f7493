// A parameter of a closure is a name, by which the value is found.
use toolwright::tool;

/// Pays.
#[tool(preview = |(from, to)| format!("{from} to {to}"))]
async fn pay(
    /// Who pays.
    from: String,
    /// Who is paid.
    to: String,
) {
    let _ = (from, to);
}

fn main() {}
