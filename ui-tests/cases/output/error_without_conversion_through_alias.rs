// A `Result` is one under any name.
use toolwright::tool;

struct DiskFailed;

type Fallible<T> = Result<T, DiskFailed>;

/// Lists files.
#[tool]
async fn list() -> Fallible<Vec<String>> {
    Err(DiskFailed)
}

fn main() {}
