// An expression borrows: the tool runs after it and needs the parameter itself.
use toolwright::{Danger, tool};

fn classify(_: String) -> Danger {
    Danger::Safe
}

/// Runs a command.
#[tool(danger = classify(command))]
async fn run(
    /// The command.
    command: String,
) {
    let _ = command;
}

fn main() {}
