// A deprecated tool is still a tool, also in a crate that lets no warning pass.
#![deny(warnings)]
use toolwright::tool;

/// Counts the old way.
#[deprecated]
#[tool(effect = read)]
pub async fn count() -> u64 {
    1
}

pub(super) fn main() {
    assert_eq!(COUNT.name(), "count");
}
