// Danger is always known, so nothing may fail.
use toolwright::{Danger, tool};

/// Waits.
#[tool(danger = if length.parse::<u8>()? > 9 { Danger::Dangerous } else { Danger::Safe })]
async fn wait(
    /// How long.
    length: String,
) {
    let _ = length;
}

fn main() {}
