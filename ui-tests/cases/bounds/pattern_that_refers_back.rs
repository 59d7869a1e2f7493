// A pattern is matched in linear time, without a memory of its groups.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[arg(pattern = r"(a|b)\1")]
    path: String,
) {
    let _ = path;
}

fn main() {}
