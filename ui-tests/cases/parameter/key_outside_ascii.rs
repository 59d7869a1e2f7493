// A parameter's name that no provider accepts needs another beside it.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// How much.
    größe: u64,
) {
    let _ = größe;
}

fn main() {}
