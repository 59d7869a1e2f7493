// A result has two sides, each with its own mistake.
use toolwright::tool;

struct Listing;
struct DiskFailed;

/// Lists files.
#[tool]
async fn list() -> Result<Listing, DiskFailed> {
    Err(DiskFailed)
}

fn main() {}
