// A `Result` among the values of a map is refused.
use toolwright::{ToolError, tool};

/// Finds rows.
#[tool(effect = read)]
async fn find() -> std::collections::BTreeMap<String, Result<u64, ToolError>> {
    Default::default()
}

fn main() {}
