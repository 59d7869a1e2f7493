// The whole input is an object, not a list.
use toolwright::tool;

/// Removes files.
#[tool]
async fn remove(#[input] paths: Vec<String>) {
    let _ = paths;
}

fn main() {}
