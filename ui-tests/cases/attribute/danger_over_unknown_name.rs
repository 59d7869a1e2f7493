// An expression names the parameters of its tool.
use toolwright::{Danger, tool};

fn classify(_: &str) -> Danger {
    Danger::Safe
}

/// Runs a command.
#[tool(danger = classify(&comand))]
async fn run(
    /// The command.
    command: String,
) {
    let _ = command;
}

fn main() {}
