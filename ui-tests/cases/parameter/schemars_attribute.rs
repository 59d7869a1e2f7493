// A parameter is no field: schemars does not see it.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[schemars(length(min = 1))]
    path: String,
) {
    let _ = path;
}

fn main() {}
