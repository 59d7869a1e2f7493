// A trait behind which services stand asks for `Send` and `Sync`.
use toolwright::tool;

trait Store {
    fn list(&self) -> Vec<String>;
}

/// Lists files.
#[tool(blocking)]
fn list(store: &dyn Store) -> Vec<String> {
    store.list()
}

fn main() {}
