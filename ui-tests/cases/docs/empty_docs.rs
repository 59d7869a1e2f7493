// An empty doc comment says nothing.
use toolwright::tool;

///
#[tool]
async fn wait() {}

fn main() {}
