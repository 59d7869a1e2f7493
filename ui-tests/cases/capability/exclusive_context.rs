// The context of a call is borrowed like a service.
use toolwright::{ToolContext, tool};

/// Lists files.
#[tool]
async fn list(context: &mut ToolContext) {
    let _ = context;
}

fn main() {}
