// A tool is a function.
use toolwright::tool;

/// Waits.
#[tool]
pub struct Wait {
    pub seconds: u32,
}

fn main() {}
