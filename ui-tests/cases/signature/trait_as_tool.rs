// A tool is a function.
use toolwright::tool;

/// Waits.
#[tool]
trait Wait {}

fn main() {}
