// A tool is a function.
use toolwright::tool;

/// Waits.
#[tool]
const WAIT: u32 = 1;

fn main() {}
