// A `Result` inside a `Box` is refused: its `Err` would look like a success.
use toolwright::{ToolError, tool};

/// Finds rows.
#[tool(effect = read)]
async fn find() -> Box<Result<String, ToolError>> {
    Box::new(Ok(String::new()))
}

fn main() {}
