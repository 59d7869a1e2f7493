// A condition stands on the whole tool.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[cfg_attr(unix, arg(length = 1..))]
    path: String,
) {
    let _ = path;
}

fn main() {}
