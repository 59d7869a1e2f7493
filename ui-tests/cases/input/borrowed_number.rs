// Input is owned, however small.
use toolwright::tool;

/// Waits.
#[tool]
async fn wait(
    /// How long.
    seconds: &u32,
) {
    let _ = seconds;
}

fn main() {}
