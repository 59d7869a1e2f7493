// A function's name that no provider accepts needs another beside it.
use toolwright::tool;

/// Measures.
#[tool]
async fn größe() {}

fn main() {}
