// A preview is awaited.
use toolwright::tool;

fn show() -> String {
    String::new()
}

/// Removes a file.
#[tool(preview = show)]
async fn remove() {}

fn main() {}
