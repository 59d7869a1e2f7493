// An expression for the danger gives a `Danger`.
use toolwright::tool;

fn is_risky(command: &str) -> bool {
    command.contains("rm")
}

/// Runs a command.
#[tool(danger = is_risky(&command))]
async fn run(
    /// The command.
    command: String,
) {
    let _ = command;
}

fn main() {}
