// An answer has a type of its own.
use toolwright::tool;

trait Row {}

/// Finds a row.
#[tool(effect = read)]
async fn find() -> dyn Row {
    loop {}
}

fn main() {}
