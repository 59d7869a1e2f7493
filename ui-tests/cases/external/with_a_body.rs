// Nothing of an external tool runs here.
use toolwright::tool;

/// Lets the visitor pick a colour.
#[tool(external)]
async fn pick() -> String {
    "blue".to_owned()
}

fn main() {}
