// What a tool returns has a name.
use toolwright::tool;

/// Lists files.
#[tool]
async fn list() -> impl Iterator<Item = String> {
    std::iter::empty()
}

fn main() {}
