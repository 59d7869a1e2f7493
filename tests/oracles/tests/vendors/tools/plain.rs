//! Scalars, lists, maps, tuples and names.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toolwright::tool;

use super::nested::Position;

/// Answers.
#[tool(effect = read)]
pub async fn ping() -> &'static str {
    "pong"
}

/// Resizes a picture.
#[tool(title = "Resize a picture", effect = idempotent)]
pub async fn resize(
    /// How wide, in pixels.
    #[arg(minimum = 1, maximum = 4096)]
    width: u32,
    /// By what factor.
    #[arg(minimum = 0.1, maximum = 10.0)]
    factor: f64,
    /// What it is called afterwards.
    #[arg(length = 1..=64)]
    name: String,
    /// Whether to keep the old one.
    keep: bool,
    /// One letter.
    mark: char,
) {
    let _ = (width, factor, name, keep, mark);
}

/// Searches.
#[tool(effect = read)]
pub async fn search(
    /// What to look for.
    query: String,
    /// Where, everywhere if not given.
    folder: Option<String>,
    /// How many.
    #[arg(default = 20, minimum = 1, maximum = 100)]
    limit: u8,
    /// Whether letters' cases differ.
    #[arg(default = false)]
    case_sensitive: bool,
) -> Vec<String> {
    let _ = (folder, limit, case_sensitive);
    vec![query]
}

/// Tags many things.
#[tool(effect = idempotent)]
pub async fn tag_all(
    /// The things.
    #[arg(length = 1..=50)]
    names: Vec<String>,
    /// The tags, each once.
    tags: BTreeSet<String>,
    /// Where they lie.
    positions: Vec<Position>,
) -> usize {
    names.len() + tags.len() + positions.len()
}

/// Counts words.
#[tool(effect = read)]
pub async fn count_words(
    /// How often each word was seen before.
    seen: BTreeMap<String, u64>,
) -> BTreeMap<String, u64> {
    seen
}

/// Draws a line.
#[tool(effect = once)]
pub async fn draw(
    /// From where.
    from: (f64, f64),
    /// A name and its width.
    pen: (String, u8),
    /// A colour.
    colour: [u8; 3],
) {
    let _ = (from, pen, colour);
}

/// Selects.
#[tool(effect = read)]
pub async fn select(
    /// Which columns, all if not given.
    columns: Option<Vec<String>>,
    /// Limits for each.
    bounds: Option<BTreeMap<String, f64>>,
) {
    let _ = (columns, bounds);
}

/// Seeks.
#[tool(effect = read)]
pub async fn seek(
    /// To which byte.
    offset: u64,
    /// How far from there.
    distance: i64,
    /// Which revision.
    #[arg(minimum = 0, maximum = 18446744073709551615)]
    revision: u64,
    /// Which moment.
    #[arg(minimum = -9223372036854775808)]
    moment: i64,
) {
    let _ = (offset, distance, revision, moment);
}

/// Matches.
#[tool(name = "match", handle = MATCH, effect = read)]
pub async fn match_code(
    /// A code.
    #[arg(pattern = "^[A-Z]{2}-[0-9]+$", example = "AB-12", example = "XY-7")]
    code: String,
) {
    let _ = code;
}

/// Creates a trigger.
#[tool(name = "trigger.create", handle = TRIGGER, effect = once)]
pub async fn create_trigger(
    /// When.
    schedule: String,
) {
    let _ = schedule;
}

/// Annotates with anything.
#[tool(effect = idempotent)]
pub async fn annotate(
    /// Anything at all.
    note: Value,
    /// Several of anything.
    notes: Vec<Value>,
) {
    let _ = (note, notes);
}
