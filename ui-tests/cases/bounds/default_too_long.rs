// A default is a legal value.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which encoding.
    #[arg(default = "windows-1252", length = 1..=8)]
    encoding: String,
) {
    let _ = encoding;
}

fn main() {}
