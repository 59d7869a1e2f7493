// Within an expression a level is a value.
use toolwright::tool;

/// Removes a file.
#[tool(danger = if force { dangerous } else { moderate })]
async fn remove(
    /// Whether to ask nothing.
    force: bool,
) {
    let _ = force;
}

fn main() {}
