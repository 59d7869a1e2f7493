// Input has a concrete type; a service behind a trait is borrowed.
use toolwright::tool;

trait Store: Send + Sync {}

/// Reads a file.
#[tool(effect = read)]
async fn read_file(store: dyn Store) {
    let _ = store;
}

fn main() {}
