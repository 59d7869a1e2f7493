// A type that does not exist is rustc's to refuse, once.
use toolwright::tool;

/// Lists files.
#[tool]
async fn list() -> Listing {
    todo!()
}

fn main() {}
