// An answer has a JSON form.
use toolwright::tool;

struct Listing;

/// Lists files.
#[tool]
async fn list() -> Listing {
    Listing
}

fn main() {}
