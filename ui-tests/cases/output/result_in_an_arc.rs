// A shared `Result` is refused.
use toolwright::{ToolError, tool};

/// Finds rows.
#[tool(effect = read)]
async fn find() -> std::sync::Arc<Result<u64, ToolError>> {
    std::sync::Arc::new(Ok(1))
}

fn main() {}
