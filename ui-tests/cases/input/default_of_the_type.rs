// `default` alone takes the type's own, where it has one.
use toolwright::{data, tool};

#[data]
enum Mode {
    Fast,
    Slow,
}

/// Reads a file.
#[tool]
async fn read_file(
    /// How.
    #[arg(default)]
    mode: Mode,
) {
    let _ = mode;
}

fn main() {}
