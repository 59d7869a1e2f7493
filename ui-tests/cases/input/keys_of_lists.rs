// A key in JSON is text, also in a list of maps.
use std::collections::BTreeMap;

use toolwright::tool;

/// Draws.
#[tool]
async fn draw(
    /// What stands where.
    cells: Vec<BTreeMap<Vec<u8>, String>>,
) {
    let _ = cells;
}

fn main() {}
