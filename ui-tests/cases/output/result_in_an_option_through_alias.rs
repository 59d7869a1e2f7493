// The type decides, whatever it is called.
use toolwright::{ToolError, tool};

type Rows<T> = Option<Vec<Result<T, ToolError>>>;

/// Finds rows.
#[tool(effect = read)]
async fn find() -> Result<Rows<u64>, ToolError> {
    Ok(None)
}

fn main() {}
