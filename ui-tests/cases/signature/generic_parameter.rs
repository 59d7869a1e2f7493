// A generic parameter is reported where it is declared, not where it is used.
use toolwright::tool;

/// Waits.
#[tool]
async fn wait<T: Send>(
    /// For what.
    what: T,
) {
    let _ = what;
}

fn main() {}
