// The context of a call is borrowed.
use toolwright::{ToolContext, tool};

/// Lists files.
#[tool]
async fn list(
    /// The call.
    context: ToolContext,
) {
    let _ = context;
}

fn main() {}
