// A parameter has a name, by which the model gives it.
use toolwright::tool;

/// Adds.
#[tool]
async fn add(
    /// What to add.
    _: i64,
) {
}

fn main() {}
