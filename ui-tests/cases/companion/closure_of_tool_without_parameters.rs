// A tool without parameters has none to show.
use toolwright::tool;

/// Ends.
#[tool(preview = |name| format!("{name}"))]
async fn end() {}

fn main() {}
