// What a tool returns has a type.
use toolwright::tool;

/// Lists files.
#[tool]
async fn list() -> Vec<_> {
    vec![String::new()]
}

fn main() {}
