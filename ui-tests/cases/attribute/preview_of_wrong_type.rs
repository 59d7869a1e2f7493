// A preview returns text.
use toolwright::tool;

async fn show() -> u32 {
    7
}

/// Removes a file.
#[tool(preview = show)]
async fn remove() {}

fn main() {}
