// Nothing is opened for a call that is carried out elsewhere.
use toolwright::tool;

struct Page;

/// Lets the visitor pick a colour.
#[tool(external)]
async fn pick(page: &mut Page) -> String;

fn main() {}
