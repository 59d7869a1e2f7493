// `#[input]` marks a parameter.
use toolwright::tool;

#[toolwright::data]
struct Query {
    /// What to look for.
    text: String,
}

/// Searches.
#[tool(effect = read)]
#[input]
async fn search(
    /// What to look for.
    query: Query,
) -> usize {
    query.text.len()
}

fn main() {}
