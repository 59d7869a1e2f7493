//! Web search with Brave's API.

use std::env;
use std::time::Duration;

use futures::future::BoxFuture;
use reqwest::header::{ACCEPT, HeaderValue};
use reqwest::{Client, Response, StatusCode, Url, redirect};
use serde::Deserialize;
use toolwright::{ErrorClass, ToolError};

use super::client::WebClientError;
use super::html;
use super::search::{SearchProvider, SearchResult};

/// The URL of Brave's search API.
const ADDRESS: &str = "https://api.search.brave.com/res/v1/web/search";
/// The environment variable that holds the API key.
const VARIABLE: &str = "BRAVE_API_KEY";
/// How long an answer may take.
const TIME: Duration = Duration::from_secs(15);
/// The most bytes of an answer that are read.
const LARGEST: usize = 2 * 1024 * 1024;

/// A [`SearchProvider`] that uses Brave's API. The key is in the environment variable `BRAVE_API_KEY`, which is read at
/// each search.
///
/// ```
/// use toolwright_toolbox::BraveSearch;
///
/// let search = BraveSearch::new()?;
/// # let _ = search;
/// # Ok::<(), toolwright_toolbox::WebClientError>(())
/// ```
#[derive(Debug, Clone)]
pub struct BraveSearch {
    http: Client,
    address: String,
    variable: String,
}

impl BraveSearch {
    /// Makes a provider that searches at Brave's own address.
    ///
    /// # Errors
    /// When the system provides no TLS.
    pub fn new() -> Result<Self, WebClientError> {
        let http = Client::builder().redirect(redirect::Policy::none()).timeout(TIME).build()?;
        Ok(Self { http, address: ADDRESS.to_owned(), variable: VARIABLE.to_owned() })
    }

    /// Sets another address, such as that of a gateway or of a test server.
    #[must_use]
    pub fn address(mut self, address: impl Into<String>) -> Self {
        self.address = address.into();
        self
    }

    /// Sets the environment variable that holds the API key.
    #[must_use]
    pub fn key_variable(mut self, variable: impl Into<String>) -> Self {
        self.variable = variable.into();
        self
    }

    fn key(&self) -> Result<HeaderValue, ToolError> {
        let key = env::var(&self.variable).unwrap_or_default();
        let key = key.trim();
        if key.is_empty() {
            let message =
                format!("`{}` is not set: it holds the key of Brave's search", self.variable);
            return Err(ToolError::new("no_credential", message)
                .class(ErrorClass::Final)
                .hint("ask the person to set it; search cannot be used without it"));
        }
        let mut key = HeaderValue::from_str(key).map_err(|_| {
            let message = format!(
                "`{}` is not a key: it has characters that a header cannot hold",
                self.variable
            );
            ToolError::new("no_credential", message).class(ErrorClass::Final)
        })?;
        key.set_sensitive(true);
        Ok(key)
    }

    async fn request_results(
        &self,
        query: &str,
        count: usize,
    ) -> Result<Vec<SearchResult>, ToolError> {
        let mut address = Url::parse(&self.address).map_err(ToolError::internal)?;
        address.query_pairs_mut().append_pair("q", query).append_pair("count", &count.to_string());
        let request = self.http.get(address);
        let request = request.header(ACCEPT, "application/json");
        let mut response = request.header("x-subscription-token", self.key()?).send().await?;
        let status = response.status();
        // Brave answers with status 422 both for an invalid key and for an invalid query.
        let refuses_query = status == StatusCode::UNPROCESSABLE_ENTITY
            && read(&mut response).await.is_ok_and(|it| is_about_query(&it));
        if refuses_query {
            return Err(ToolError::invalid("Brave refuses the query")
                .hint("a query has at most 400 characters and 50 words"));
        }
        if matches!(
            status,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::UNPROCESSABLE_ENTITY
        ) {
            let message = format!(
                "Brave refuses the key in `{}` (status {})",
                self.variable,
                status.as_u16()
            );
            return Err(ToolError::new("permission_denied", message).class(ErrorClass::Final));
        }
        if let Err(error) = response.error_for_status_ref() {
            return Err(error.into());
        }
        let body = read(&mut response).await?;
        let found: BraveAnswer = serde_json::from_slice(&body).map_err(|error| {
            ToolError::new("invalid_response", "Brave's answer could not be read").caused_by(error)
        })?;
        let pages = found.web.results.into_iter().take(count);
        Ok(pages
            .map(|it| SearchResult {
                // Brave marks the words that match with tags, so convert the HTML to plain words.
                title: html::words(&it.title),
                url: it.url,
                snippet: html::words(&it.description),
            })
            .collect())
    }
}

/// Reads the body of an answer.
async fn read(response: &mut Response) -> Result<Vec<u8>, ToolError> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await? {
        body.extend_from_slice(&piece);
        if body.len() > LARGEST {
            return Err(ToolError::new("invalid_response", "Brave's answer has more than 2 MB"));
        }
    }
    Ok(body)
}

/// Returns whether the body of an error says that the query is invalid.
fn is_about_query(body: &[u8]) -> bool {
    serde_json::from_slice::<BraveFailure>(body).is_ok_and(|it| it.error.code == "VALIDATION")
}

impl SearchProvider for BraveSearch {
    fn name(&self) -> &str {
        "Brave Search"
    }

    fn search<'a>(
        &'a self,
        query: &'a str,
        count: usize,
    ) -> BoxFuture<'a, Result<Vec<SearchResult>, ToolError>> {
        Box::pin(self.request_results(query, count))
    }
}

/// The parts of an answer that are used; `web` is empty if nothing was found.
#[derive(Deserialize)]
struct BraveAnswer {
    #[serde(default)]
    web: Pages,
}

/// The parts of an error that are used.
#[derive(Deserialize)]
struct BraveFailure {
    error: BraveError,
}

#[derive(Deserialize)]
struct BraveError {
    code: String,
}

#[derive(Default, Deserialize)]
struct Pages {
    #[serde(default)]
    results: Vec<FoundPage>,
}

#[derive(Deserialize)]
struct FoundPage {
    title: String,
    url: String,
    #[serde(default)]
    description: String,
}
