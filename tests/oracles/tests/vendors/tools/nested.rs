//! Types inside types, some inside themselves.

use std::collections::BTreeMap;

use toolwright::{data, tool};

use super::choices::Order;

/// Where something lies.
#[data]
pub struct Position {
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
    /// What people call it.
    pub label: Option<String>,
}

/// A parcel.
#[data]
pub struct Parcel {
    /// Where it comes from.
    pub from: Position,
    /// Where it goes to.
    pub to: Position,
    /// Its weight in grams.
    pub grams: u32,
}

/// Places a parcel.
#[tool(effect = once)]
pub async fn place(
    /// The parcel.
    parcel: Parcel,
) -> Position {
    parcel.to
}

/// A tree.
#[data]
pub struct Node {
    /// Its name.
    pub name: String,
    /// The first below it.
    pub child: Option<Box<Node>>,
}

/// Walks a tree.
#[tool(effect = read)]
pub async fn walk(
    /// Its root.
    root: Node,
) -> Node {
    root
}

/// What to change; what is absent stays as it is.
#[data]
pub struct Change {
    /// A new name.
    pub name: Option<String>,
    /// A new count.
    #[serde(default)]
    pub count: u32,
    /// New marks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marks: Option<Vec<Order>>,
}

/// Updates.
#[tool(effect = idempotent)]
pub async fn update(#[input] change: Change) -> Change {
    change
}

/// A page.
#[data]
pub struct Page {
    /// Where it begins.
    pub offset: Option<u32>,
}

/// A query with its page in it.
#[data]
pub struct Paged {
    /// What.
    pub query: String,
    #[serde(flatten)]
    pub page: Page,
}

/// Queries by pages.
#[tool(effect = read)]
pub async fn paged(
    /// What and from where.
    query: Paged,
) {
    let _ = query;
}

/// A setting that holds settings.
#[data]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// Words.
    Text(String),
    /// Settings by name.
    Group(BTreeMap<String, Setting>),
    /// Settings in order.
    List(Vec<Setting>),
}

/// Configures.
#[tool(effect = idempotent)]
pub async fn configure(
    /// How.
    setting: Setting,
) {
    let _ = setting;
}
