// The type of the output is the contract, so it has a schema.
use toolwright::tool;

struct Colour;

/// Lets the visitor pick a colour.
#[tool(external)]
async fn pick() -> Colour;

fn main() {}
