// A resource opened for one call has a concrete type.
use toolwright::tool;

trait Store: Send + Sync {}

/// Lists files.
#[tool]
async fn list(store: &mut dyn Store) {
    let _ = store;
}

fn main() {}
