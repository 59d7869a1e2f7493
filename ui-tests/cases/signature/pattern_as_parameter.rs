// A parameter has a name, by which the model gives it.
use toolwright::tool;

/// Adds.
#[tool]
async fn add(
    /// Both numbers.
    (one, other): (i64, i64),
) -> i64 {
    one + other
}

fn main() {}
