// A generic function takes its parameters in any order, so a path must not name it.
use toolwright::tool;

async fn shown<A: ToString, B: ToString>(cents: A, to: B) -> String {
    format!("{} to {}", cents.to_string(), to.to_string())
}

/// Pays.
#[tool(preview = shown)]
async fn pay(
    /// Who is paid.
    to: String,
    /// How much.
    cents: u64,
) {
    let _ = (to, cents);
}

fn main() {}
