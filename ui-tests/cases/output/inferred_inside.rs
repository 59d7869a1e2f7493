// A tool names its types: a schema is made of them.
use toolwright::tool;

/// Lists the files.
#[tool(effect = read)]
async fn list() -> Vec<_> {
    vec![1_u8]
}

fn main() {}
