// Options are for input; a service has none.
use toolwright::tool;

struct Disk;

/// Reads a file.
#[tool]
async fn read_file(
    #[arg(secret)]
    disk: &Disk,
) {
    let _ = disk;
}

fn main() {}
