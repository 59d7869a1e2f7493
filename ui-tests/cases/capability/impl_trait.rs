// A service is found by its type.
use toolwright::tool;

trait Store: Send + Sync {}

/// Lists files.
#[tool]
async fn list(store: &impl Store) {
    let _ = store;
}

fn main() {}
