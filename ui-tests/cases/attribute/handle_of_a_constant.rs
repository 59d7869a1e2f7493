// The handle is one more constant of the module.
use toolwright::tool;

const MAX_ROWS: usize = 10;

/// Says how many rows there may be.
#[tool(effect = read)]
async fn max_rows() -> usize {
    MAX_ROWS
}

fn main() {}
