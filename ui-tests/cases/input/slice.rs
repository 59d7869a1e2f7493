// A list is a `Vec`.
use toolwright::tool;

/// Adds numbers.
#[tool(effect = read)]
async fn add(
    /// The numbers.
    numbers: [u64],
) -> u64 {
    numbers.iter().sum()
}

fn main() {}
