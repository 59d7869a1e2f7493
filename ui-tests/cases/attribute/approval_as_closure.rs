// An approval is an expression over the parameters, as danger is.
use toolwright::tool;

/// Removes a file.
#[tool(approval = |path: &str| format!("it removes {path}"))]
async fn remove(
    /// Which file.
    path: String,
) {
    let _ = path;
}

fn main() {}
