// Every mistake is reported in the first run, each at its own token, none following from another.
use std::cell::Cell;
use toolwright::tool;

struct Cache(Cell<u32>);
struct Mode;
struct DiskFailed;

/// Reads a file.
#[tool(efect = read, timeout = "30")]
async fn read_file(
    cache: &Cache,
    /// Which file.
    path: &str,
    /// First line.
    #[arg(minimum = 5, maximum = 1)]
    offset: usize,
    /// How.
    mode: Mode,
) -> Result<(), DiskFailed> {
    Err((cache, path, offset, mode)).map_err(|_| DiskFailed)
}

fn main() {}
