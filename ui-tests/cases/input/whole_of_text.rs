// The whole input is an object, not a text.
use toolwright::tool;

/// Removes files.
#[tool]
async fn remove(#[input] paths: String) {
    let _ = paths;
}

fn main() {}
