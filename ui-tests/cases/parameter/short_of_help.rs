// The help of every command has its letter.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which host.
    #[arg(short = 'h')]
    host: String,
) {
    let _ = host;
}

fn main() {}
