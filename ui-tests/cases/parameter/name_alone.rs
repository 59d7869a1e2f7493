// A parameter has a type.
use toolwright::tool;

/// Searches.
#[tool(effect = read)]
async fn search(
    /// What to look for.
    word
) -> usize {
    word.len()
}

fn main() {}
