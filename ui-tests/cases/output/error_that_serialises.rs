// An error that has a JSON form is still no answer.
use toolwright::{data, tool};

#[data]
struct DiskFailed;

/// Lists files.
#[tool]
async fn list() -> Result<(), DiskFailed> {
    Err(DiskFailed)
}

fn main() {}
