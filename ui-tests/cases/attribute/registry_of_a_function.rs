//! A registry is made of the constants of tools, which are named in capitals.

use toolwright::{Registry, tool};

/// Find a book.
#[tool(effect = read)]
async fn find() {}

fn main() {
    let _ = Registry::of([find]);
}
