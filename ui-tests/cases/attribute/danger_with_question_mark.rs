// Danger is always known, so nothing may fail.
use toolwright::tool;

/// Waits.
#[tool(danger = if length.parse::<u8>()? > 9 { toolwright::Danger::Dangerous } else { toolwright::Danger::Safe })]
async fn wait(
    /// How long.
    length: String,
) {
    let _ = length;
}

fn main() {}
