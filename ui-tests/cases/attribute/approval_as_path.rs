// A function that gives the reason is called, with parameters by their names.
use toolwright::tool;

fn reason(path: &str) -> String {
    path.to_owned()
}

/// Removes a file.
#[tool(approval = reason)]
async fn remove(
    /// Which file.
    path: String,
) {
    let _ = path;
}

fn main() {}
