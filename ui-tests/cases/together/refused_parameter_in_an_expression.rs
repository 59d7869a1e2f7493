// A parameter that is refused is still a parameter: the expression over it is no second mistake.
use toolwright::{Danger, tool};

/// Runs a command.
#[tool(danger = level, reads(file = path))]
async fn run(
    /// How dangerous.
    level: &'static str,
    /// Where.
    path: &str,
) -> Danger {
    let _ = (level, path);
    Danger::Safe
}

fn main() {}
