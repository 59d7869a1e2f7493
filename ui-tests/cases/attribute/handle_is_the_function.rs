// A function in capitals leaves no name for its handle.
use toolwright::tool;

/// Gives the answer.
#[tool]
#[expect(non_snake_case)]
async fn X() {}

fn main() {}
