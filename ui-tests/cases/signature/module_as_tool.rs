// A tool is a function.
use toolwright::tool;

/// Waits.
#[tool]
mod wait {}

fn main() {}
