// Expressions of attributes may hold what looks like a mistake: a `?` that a closure answers for, a level by its name.
#![deny(warnings)]
#![expect(clippy::let_and_return, reason = "a block is the point")]
use std::collections::{BTreeMap, HashMap};

use toolwright::{Danger, Registry, tool};

/// Waits.
#[tool(
    danger = {
        let safe = (|| Some(length.parse::<u8>().ok()?.checked_add(1)? > 9))().unwrap_or(true);
        if safe { Danger::Safe } else { Danger::Dangerous }
    },
    approval = (|| -> Result<String, std::num::ParseIntError> { Ok(length.parse::<u8>()?.to_string()) })().ok()
)]
pub async fn wait(
    /// How long; a limit at the end of the type is one.
    #[arg(default = 3, minimum = -128, maximum = 127)]
    times: i8,
    /// How long.
    #[arg(pattern = r"^\d+[[a]$", length = 1..=9)]
    length: String,
    /// From where, letters of any language, ECMAScript's control letters and its slash.
    #[arg(pattern = r"^(?<name>\p{L}|\cA|\/)*$")]
    from: Option<String>,
    /// Where.
    places: HashMap<u8, Vec<(u8, u8)>>,
    /// Who.
    people: BTreeMap<String, Option<bool>>,
    /// How far.
    #[arg(minimum = -1, maximum = 300)]
    far: f32,
) {
    let _ = (times, length, from, places, people, far);
}

/// Levels as they are called by a `let`.
#[tool(danger = { let dangerous = Danger::Dangerous; dangerous })]
pub async fn look() {}

/// A level by the name of a parameter.
#[tool(danger = if strict { safe } else { Level { high: true } })]
pub async fn judge(
    /// Whether.
    strict: bool,
    /// What then.
    safe: Level,
) {
    let _ = (strict, safe);
}

/// A level of one's own.
#[toolwright::data]
#[derive(Clone, Copy)]
pub struct Level {
    /// How high.
    pub high: bool,
}

impl From<Level> for Danger {
    fn from(level: Level) -> Self {
        if level.high { Danger::Critical } else { Danger::Safe }
    }
}

/// A map carries the whole input.
#[tool]
pub async fn whole(#[input] all: BTreeMap<String, u8>) {
    let _ = all;
}

pub(super) fn main() {
    assert_eq!(Registry::of([WAIT, LOOK, WHOLE]).unwrap().catalog().names().count(), 3);
}
