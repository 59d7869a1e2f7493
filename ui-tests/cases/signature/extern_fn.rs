// A tool is a function of Rust.
use toolwright::tool;

/// Waits.
#[tool(blocking)]
extern "C" fn wait() {}

fn main() {}
