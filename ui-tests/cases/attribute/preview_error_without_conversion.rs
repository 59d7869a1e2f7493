// What a preview fails with is chosen for the model, as in a tool.
use toolwright::tool;

struct Failed;

async fn show() -> Result<String, Failed> {
    Err(Failed)
}

/// Removes a file.
#[tool(preview = show)]
async fn remove() {}

fn main() {}
