// Input is owned, tuples, too.
use toolwright::tool;

/// Waits.
#[tool]
async fn wait(
    /// From when to when.
    span: &(u32, u32),
) {
    let _ = span;
}

fn main() {}
