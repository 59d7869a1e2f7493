// A key in JSON is text.
use std::collections::HashMap;

use toolwright::tool;

/// Draws.
#[tool]
async fn draw(
    /// What stands where.
    cells: HashMap<(u8, u8), String>,
) {
    let _ = cells;
}

fn main() {}
