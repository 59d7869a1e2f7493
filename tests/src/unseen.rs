//! What the macro cannot see of a type or a value is refused when the registry is built, at its place.

use std::collections::HashMap;

use toolwright::{Handle, Registry, data, tool};

/// A map by places.
#[data]
struct Board {
    /// What stands where.
    cells: HashMap<(u8, u8), String>,
}

/// Draws.
#[tool(name = "unseen_keys")]
async fn keys(
    /// What.
    board: Board,
) {
    let _ = board.cells;
}

/// Waits.
#[tool(name = "unseen_default")]
async fn default(
    /// How long.
    #[arg(default = no_number())]
    length: f64,
) {
    let _ = length;
}

fn no_number() -> f64 {
    f64::NAN
}

fn refused(handle: Handle) -> String {
    Registry::of([handle]).unwrap_err().to_string()
}

#[test]
fn a_map_in_a_type_whose_keys_are_no_text_is_refused_at_its_place() {
    let words = refused(KEYS);
    assert!(words.contains("unseen_keys") && words.contains("unseen.rs"), "{words}");
    assert!(words.contains("/properties/board/properties/cells"), "{words}");
}

#[test]
fn a_default_that_is_no_number_is_refused_at_its_place() {
    let words = refused(DEFAULT);
    assert!(words.contains("unseen_default") && words.contains("unseen.rs"), "{words}");
    assert!(words.contains("/properties/length: the default"), "{words}");
}
