// A model knows of a tool what its doc comment says.
use toolwright::tool;

#[tool]
async fn wait() {}

fn main() {}
