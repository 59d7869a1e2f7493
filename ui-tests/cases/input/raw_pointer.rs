// A pointer has no JSON form.
use toolwright::tool;

/// Reads a file.
#[tool(blocking)]
fn read_file(
    /// Which file.
    path: *const u8,
) {
    let _ = path;
}

fn main() {}
