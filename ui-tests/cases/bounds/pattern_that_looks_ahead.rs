// A pattern is matched in linear time, without looking ahead.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[arg(pattern = r"^(?!\.\.).*$")]
    path: String,
) {
    let _ = path;
}

fn main() {}
