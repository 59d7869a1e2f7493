// Calls share a service; one error, also where it lives across an `await`.
use std::cell::RefCell;
use toolwright::tool;

struct Cache(RefCell<Vec<String>>);

/// Lists files.
#[tool]
async fn list(cache: &Cache) -> Vec<String> {
    std::future::ready(()).await;
    cache.0.borrow().clone()
}

fn main() {}
