// A `Result` inside a list is refused, also where it could be sent.
use toolwright::tool;

/// Finds rows.
#[tool(effect = read)]
async fn find() -> Vec<Result<u64, String>> {
    Vec::new()
}

fn main() {}
