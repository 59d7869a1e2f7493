// The items of an answer have a JSON form.
use toolwright::tool;

struct Listing;

/// Lists files.
#[tool]
async fn list() -> Vec<Listing> {
    Vec::new()
}

fn main() {}
