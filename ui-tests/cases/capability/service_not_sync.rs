// Calls share a service, so it is `Sync`.
use std::cell::RefCell;
use toolwright::tool;

struct Cache(RefCell<Vec<String>>);

/// Lists files.
#[tool(blocking)]
fn list(cache: &Cache) -> Vec<String> {
    cache.0.borrow().clone()
}

fn main() {}
