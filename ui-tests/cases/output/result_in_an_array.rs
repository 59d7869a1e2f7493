// A `Result` in an array is refused.
use toolwright::tool;

/// Finds rows.
#[tool(effect = read)]
async fn find() -> [Result<u64, String>; 2] {
    [Ok(1), Ok(2)]
}

fn main() {}
