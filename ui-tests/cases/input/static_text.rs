// Input comes with the call, so it is not `'static`.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    path: &'static str,
) {
    let _ = path;
}

fn main() {}
