// What is shown in the schema is a number of JSON.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(example = -f32::INFINITY)]
    offset: f32,
) {
    let _ = offset;
}

fn main() {}
