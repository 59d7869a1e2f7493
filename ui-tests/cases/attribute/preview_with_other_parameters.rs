// A preview takes the tool's own parameters.
use toolwright::tool;

async fn show(number: u32) -> String {
    number.to_string()
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
