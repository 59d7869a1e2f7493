// An answer outlives the call.
use toolwright::tool;

struct Cache(String);

/// Lists files.
#[tool]
async fn list(cache: &Cache) -> &str {
    &cache.0
}

fn main() {}
