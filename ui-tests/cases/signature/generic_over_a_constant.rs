// A tool has one schema, so it is not generic.
use toolwright::tool;

/// Waits.
#[tool]
async fn wait<const N: usize>() {}

fn main() {}
