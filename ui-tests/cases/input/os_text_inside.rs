// The text of an operating system is bytes in JSON, also in a list.
use std::ffi::OsStr;
use toolwright::tool;

/// Reads files.
#[tool(effect = read)]
async fn read_files(
    /// Which.
    names: Vec<Box<OsStr>>,
) -> usize {
    names.len()
}

fn main() {}
