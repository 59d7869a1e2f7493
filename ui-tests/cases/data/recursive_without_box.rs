//! A type that contains itself holds itself behind a `Box` or a list.

use toolwright::tool;

/// A folder.
#[toolwright::data]
struct Folder {
    name: String,
    inside: Option<Folder>,
}

/// Save a folder.
#[tool(effect = once, writes())]
async fn save(
    /// Which.
    folder: Folder,
) -> String {
    folder.name
}

fn main() {}
