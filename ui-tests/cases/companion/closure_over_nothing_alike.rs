// A name unlike any parameter is answered by those that there are.
use toolwright::tool;

/// Pays.
#[tool(preview = |amount| format!("{amount}"))]
async fn pay(
    /// Who pays.
    from: String,
    /// Who is paid.
    to: String,
) {
    let _ = (from, to);
}

fn main() {}
