// Nobody stands up for an unsafe tool.
use toolwright::tool;

/// Waits.
#[tool]
async unsafe fn wait() {}

fn main() {}
