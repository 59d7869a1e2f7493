// Input is owned all the way down.
use std::borrow::Cow;
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file<'a>(
    /// Which file.
    path: Cow<'a, str>,
) {
    let _ = path;
}

fn main() {}
