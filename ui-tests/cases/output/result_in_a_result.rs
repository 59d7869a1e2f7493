// A `Result` in a `Result` is refused: its inner `Err` would look like a success.
use toolwright::{ToolError, tool};

type Inner = Result<u64, String>;

/// Counts.
#[tool(effect = read)]
async fn count() -> Result<Inner, ToolError> {
    Ok(Ok(1))
}

fn main() {}
