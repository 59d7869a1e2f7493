// Two names of one type are one type.
use toolwright::tool;

type Account = String;

async fn shown(to: String, from: String) -> String {
    format!("{from} to {to}")
}

/// Pays.
#[tool(preview = shown)]
async fn pay(
    /// Who pays.
    from: Account,
    /// Who is paid.
    to: String,
) {
    let _ = (from, to);
}

fn main() {}
