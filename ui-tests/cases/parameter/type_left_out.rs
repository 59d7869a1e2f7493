// Half a parameter is rustc's to report, once.
use toolwright::tool;

/// Searches.
#[tool(effect = read)]
async fn search(
    /// What to look for.
    word: ) -> usize {
    word.len()
}

fn main() {}
