// An approval is a reason or none, or why that cannot be found out.
use toolwright::tool;

/// Removes a file.
#[tool(approval = |path| path.is_empty())]
async fn remove(
    /// Which file.
    path: String,
) {
    let _ = path;
}

fn main() {}
