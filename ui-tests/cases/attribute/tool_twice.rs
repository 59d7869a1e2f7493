// A function is one tool.
use toolwright::tool;

/// Reads a file.
#[tool(effect = read)]
#[tool(group = "file")]
async fn read_file(
    /// Which file.
    #[arg(length = 1..)]
    path: String,
) {
    let _ = path;
}

fn main() {}
