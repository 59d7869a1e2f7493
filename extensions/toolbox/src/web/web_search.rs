//! `web_search` searches the web.
//!
//! # What it does
//! It asks the service that the application chose, and answers with title, URL and snippet of each result, in a fence,
//! because results are untrusted.
//!
//! # What it may touch
//! The search service, to which it sends the query.
//!
//! # What it refuses
//! An empty query.

use serde_json::json;
use toolwright::untrusted::escaped;
use toolwright::{ErrorClass, Output, ToolError, tool};

use super::search::SearchProvider;

/// Search the web. Each result has a title, an address and a snippet; fetch the page where that is not enough.
#[tool(unlinked, group = "web", danger = safe, effect = read, reads(), timeout = "20s")]
pub async fn web_search(
    provider: &dyn SearchProvider,
    /// What to search for.
    #[arg(example = "rust async trait objects", positional, sink)]
    query: String,
    /// How many results.
    #[arg(default = 10, minimum = 1, maximum = 20)]
    limit: usize,
) -> Result<Output, ToolError> {
    let query = query.trim();
    if query.is_empty() {
        return Err(ToolError::invalid("`query` is empty").class(ErrorClass::Invalid));
    }
    let found = provider.search(query, limit).await?;
    if found.is_empty() {
        return Ok(Output::text("nothing was found"));
    }
    let lines = found.iter().take(limit).enumerate().map(|(index, page)| {
        let one_line = |text: &str| escaped(text).split_whitespace().collect::<Vec<_>>().join(" ");
        let (title, url, snippet) =
            (one_line(&page.title), one_line(&page.url), one_line(&page.snippet));
        format!("{}. {title}\n   {url}\n   {snippet}", index + 1)
    });
    let lines: Vec<String> = lines.collect();
    Ok(Output::text(lines.join("\n"))
        .structured(json!(found))
        .metadata("untrusted", json!({"search": provider.name()}))
        .untrusted(provider.name()))
}
