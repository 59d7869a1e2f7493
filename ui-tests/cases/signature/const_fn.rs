// A tool is no constant.
use toolwright::tool;

/// Waits.
#[tool(blocking)]
const fn wait() {}

fn main() {}
