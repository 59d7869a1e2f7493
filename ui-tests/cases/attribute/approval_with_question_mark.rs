// Whether a person is asked is always known, so nothing may fail.
use toolwright::tool;

fn reason(path: &str) -> Result<String, std::io::Error> {
    Ok(path.to_owned())
}

/// Removes a file.
#[tool(approval = reason(&path)?)]
async fn remove(
    /// Which file.
    path: String,
) {
    let _ = path;
}

fn main() {}
