// The help of every command has its letter, also when the name would choose it.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which host.
    #[arg(short)]
    host: String,
) {
    let _ = host;
}

fn main() {}
