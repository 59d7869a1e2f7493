// A `Result` inside an `Option` is refused: its `Err` would look like a success.
use toolwright::{ToolError, tool};

/// Finds rows.
#[tool(effect = read)]
async fn find() -> Option<Result<String, ToolError>> {
    None
}

fn main() {}
