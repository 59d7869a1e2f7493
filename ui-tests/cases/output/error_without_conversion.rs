// What a model reads of an error is chosen.
use toolwright::tool;

#[derive(Debug)]
struct DiskFailed;

/// Lists files.
#[tool]
async fn list() -> Result<Vec<String>, DiskFailed> {
    Err(DiskFailed)
}

fn main() {}
