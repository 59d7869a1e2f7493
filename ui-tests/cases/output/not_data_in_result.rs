// What a tool returns with success has a JSON form.
use toolwright::{ToolError, tool};

struct Listing;

/// Lists files.
#[tool]
async fn list() -> Result<Listing, ToolError> {
    Ok(Listing)
}

fn main() {}
