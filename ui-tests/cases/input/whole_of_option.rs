// The whole input is an object and always there.
use toolwright::tool;

/// Removes files.
#[tool]
async fn remove(#[input] paths: Option<Vec<String>>) {
    let _ = paths;
}

fn main() {}
