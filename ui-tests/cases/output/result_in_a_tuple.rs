// A `Result` in a tuple is refused.
use toolwright::{ToolError, tool};

/// Finds rows.
#[tool(effect = read)]
async fn find() -> (u64, Option<Result<u64, ToolError>>) {
    (1, None)
}

fn main() {}
