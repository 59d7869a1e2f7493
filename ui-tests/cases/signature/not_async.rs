// A tool is asynchronous, or says that it blocks.
use toolwright::tool;

/// Waits.
#[tool]
fn wait() {}

fn main() {}
