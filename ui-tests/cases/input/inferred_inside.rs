// A tool names its types: a schema is made of them.
use toolwright::tool;

/// Adds numbers.
#[tool(effect = read)]
async fn add(
    /// The numbers.
    numbers: Vec<_>,
) -> u64 {
    numbers.iter().sum()
}

fn main() {}
