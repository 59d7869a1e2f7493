// Within an arm a level is a value, too.
use toolwright::tool;

/// Removes a file.
#[tool(danger = match path.as_str() { "/" => critical, _ => toolwright::Danger::Safe })]
async fn remove(
    /// Which file.
    path: String,
) {
    let _ = path;
}

fn main() {}
