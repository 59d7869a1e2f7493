// The text of an operating system is bytes in JSON.
use std::ffi::OsString;
use toolwright::tool;

/// Reads a file.
#[tool(effect = read)]
async fn read_file(
    /// Which.
    name: OsString,
) -> usize {
    name.len()
}

fn main() {}
