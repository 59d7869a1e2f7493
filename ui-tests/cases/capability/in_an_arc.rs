// A service is found by its own type, not by how it is kept.
use std::sync::Arc;
use toolwright::tool;

struct Cache;

/// Lists files.
#[tool]
async fn list(
    /// The cache.
    cache: Arc<Cache>,
) {
    let _ = cache;
}

fn main() {}
