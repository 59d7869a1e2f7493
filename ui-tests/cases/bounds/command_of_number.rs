// A command line is text.
use toolwright::tool;

/// Runs a command line.
#[tool]
async fn run(
    /// The line.
    #[arg(command)]
    line: usize,
) {
    let _ = line;
}

fn main() {}
