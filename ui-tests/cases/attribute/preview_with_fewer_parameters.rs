// A preview takes all of the tool's parameters.
use toolwright::tool;

async fn show() -> String {
    String::new()
}

/// Removes a file.
#[tool(preview = show)]
async fn remove(
    /// Which file.
    path: String,
) {
    let _ = path;
}

fn main() {}
