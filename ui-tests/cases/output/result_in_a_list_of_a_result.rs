// A `Result` inside the value of another is refused, however deep.
use toolwright::{ToolError, tool};

/// Finds rows.
#[tool(effect = read)]
async fn find() -> Result<Vec<Option<Result<u64, ToolError>>>, ToolError> {
    Ok(Vec::new())
}

fn main() {}
