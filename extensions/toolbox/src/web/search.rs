//! Searches the web through a provider of the application's choice.

use futures::future::BoxFuture;
use toolwright::ToolError;

/// A service that searches the web, which [`web_search`](crate::web_search) uses.
pub trait SearchProvider: Send + Sync + 'static {
    /// Returns the name of the service, which is given as the source of its results.
    fn name(&self) -> &str;

    /// Finds at most `count` pages for a query, best first.
    fn search<'a>(
        &'a self,
        query: &'a str,
        count: usize,
    ) -> BoxFuture<'a, Result<Vec<SearchResult>, ToolError>>;
}

/// A page that was found.
#[toolwright::data]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchResult {
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// The part of it that fits the query.
    pub snippet: String,
}
