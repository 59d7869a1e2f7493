// A service is borrowed once.
use toolwright::tool;

struct Cache;

/// Lists files.
#[tool]
async fn list(cache: &&Cache) {
    let _ = cache;
}

fn main() {}
