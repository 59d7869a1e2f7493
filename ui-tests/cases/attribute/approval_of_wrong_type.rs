// An expression for the approval gives a reason, or none.
use toolwright::tool;

fn needs_a_look(path: &str) -> bool {
    path.starts_with("src")
}

/// Removes a file.
#[tool(approval = needs_a_look(&path))]
async fn remove(
    /// Which file.
    path: String,
) {
    let _ = path;
}

fn main() {}
