// Text is no error: it says what happened, not what to do.
use toolwright::tool;

/// Lists files.
#[tool]
async fn list() -> Result<Vec<String>, String> {
    Err("no disk".into())
}

fn main() {}
