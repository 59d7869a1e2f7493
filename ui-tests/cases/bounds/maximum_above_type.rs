// A limit is a number that the type can be, also in an option.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(maximum = 300)]
    offset: Option<u8>,
) {
    let _ = offset;
}

fn main() {}
