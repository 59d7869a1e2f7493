//! Enums in every way in which serde writes them.

use toolwright::{data, tool};

use super::nested::Position;

/// How to sort.
#[data]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// By its name.
    ByName,
    /// By its date.
    ByDate,
}

/// Sorts.
#[tool(effect = read)]
pub async fn sort(
    /// By what.
    order: Order,
    /// By what else.
    then: Option<Order>,
) {
    let _ = (order, then);
}

/// What to compare with.
#[data]
#[serde(untagged)]
pub enum Operand {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// A range.
    Range {
        /// The least.
        least: i64,
        /// The most.
        most: i64,
    },
}

/// Filters.
#[tool(effect = read)]
pub async fn filter(
    /// By what.
    operand: Operand,
) {
    let _ = operand;
}

/// Whom to tell.
#[data]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Channel {
    /// A person, by post.
    Mail {
        /// The address.
        address: String,
    },
    /// A room.
    Room {
        /// Its number.
        number: u32,
        /// What to say first.
        greeting: Option<String>,
    },
    /// Nobody.
    Silence,
}

/// Notifies.
#[tool(effect = once)]
pub async fn notify(
    /// Whom.
    channel: Channel,
) {
    let _ = channel;
}

/// A value to keep.
#[data]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
pub enum Stored {
    /// Words.
    Text(String),
    /// Numbers.
    Numbers(Vec<i32>),
    /// Nothing.
    Empty,
}

/// Stores.
#[tool(effect = keyed)]
pub async fn store(
    /// Under which key.
    key: String,
    /// What.
    stored: Stored,
) {
    let _ = (key, stored);
}

/// A place or a distance from one.
#[data]
#[serde(rename_all = "snake_case")]
pub enum Spot {
    /// Right here.
    Here,
    /// So many metres away.
    Away(u32),
    /// Somewhere.
    At(Position),
}

/// Locates.
#[tool(effect = read)]
pub async fn locate(
    /// What.
    spot: Spot,
) -> Spot {
    spot
}
