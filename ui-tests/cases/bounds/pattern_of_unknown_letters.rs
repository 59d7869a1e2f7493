// A class of letters has a name that Unicode knows.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[arg(pattern = r"\p{Lettuce}")]
    path: String,
) {
    let _ = path;
}

fn main() {}
