//! A tool that is carried out elsewhere has no body, and everything else that tools have.
#![deny(warnings)]

use toolwright::{Danger, Registry, ToolError, tool};

/// What is for sale.
pub struct Stock(&'static [&'static str]);

/// An article, as the shop names it.
#[toolwright::data]
pub struct Receipt {
    /// Its number.
    pub number: u64,
}

/// Lets the visitor buy something.
#[tool(
    external,
    unlinked,
    effect = once,
    timeout = "5m",
    danger = if cents > 1_000 { Danger::Critical } else { Danger::Moderate },
    approval = format!("it costs {cents}"),
    writes(file = article),
    validate = |article, stock| match stock.0.contains(&article.as_str()) {
        true => Ok(()),
        false => Err(ToolError::invalid("the shop has no such article")),
    },
    preview = |article, cents| format!("{article}: {cents}"),
)]
pub async fn buy(
    stock: &Stock,
    /// Which article.
    #[arg(alias = "item", length = 1..=20)]
    article: String,
    /// At most for so much, in cents.
    #[arg(default = 100)]
    cents: u64,
) -> Result<Receipt, ToolError>;

/// Asks the visitor whether they are still there.
#[tool(external, unlinked, effect = read)]
async fn ask() -> bool;

/// Renders the film, which takes an hour.
#[tool(external, unlinked, effect = idempotent, background = true)]
async fn render() -> u64;

/// Renders it while the run waits.
#[tool(external, unlinked, effect = idempotent, background = false)]
async fn render_now() -> u64;

/// Shows the visitor something.
#[tool(external, unlinked, name = "show", handle = SHOWS)]
async fn show(
    /// The whole of it.
    #[input]
    shown: Shown,
);

/// What is shown.
#[toolwright::data]
struct Shown {
    /// Its title.
    title: String,
}

pub fn main() {
    let registry = Registry::of([BUY, ASK, SHOWS, RENDER, RENDER_NOW]).expect("they are tools");
    for name in ["buy", "ask", "show"] {
        assert!(registry.get(name).expect("registered").is_external);
    }
    assert!(registry.get("buy").expect("registered").output_schema.is_some());
    let is_background = |name| registry.get(name).expect("registered").is_background;
    assert!(is_background("render") && !is_background("render_now") && !is_background("ask"));
    assert_eq!(Stock(&["tea"]).0.len(), 1);
}
