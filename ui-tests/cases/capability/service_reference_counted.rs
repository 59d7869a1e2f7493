// Calls share a service between threads.
use std::rc::Rc;
use toolwright::tool;

/// Lists files.
#[tool(blocking)]
fn list(cache: &Rc<Vec<String>>) -> usize {
    cache.len()
}

fn main() {}
