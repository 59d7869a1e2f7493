// Whether a person is asked is known before anything runs.
use toolwright::tool;

async fn reason(path: &str) -> String {
    path.to_owned()
}

/// Removes a file.
#[tool(approval = reason(&path).await)]
async fn remove(
    /// Which file.
    path: String,
) {
    let _ = path;
}

fn main() {}
