//! Fetches a page: the only I/O of `web_fetch`. Every address is checked before connecting to it, and redirects are followed
//! one by one.

use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION,
};
use reqwest::{Client, Proxy, Response, StatusCode, Url, redirect};
use tokio::time::{Instant, timeout_at};
use toolwright::ToolError;
use toolwright::address::{AddressGuard, HostResolver};

use super::allow_list::AllowList;
use super::failure;
use super::target::{Site, Target};

/// The most bytes of a page that are read.
const LARGEST: usize = 2 * 1024 * 1024;
/// The most bytes that are read of the page of a failure. Only its first words are shown, and converting a whole page would
/// block the runtime.
const LARGEST_OF_FAILURE: usize = 64 * 1024;
/// How long a server may take to send the first byte of its answer.
const FIRST_BYTE: Duration = Duration::from_secs(10);
/// How long a fetch may take, including redirects.
const WHOLE: Duration = Duration::from_secs(30);
/// The most redirects that are followed.
const MOST_REDIRECTS: usize = 3;

/// A client that fetches pages of the web, and the service of [`web_fetch`](crate::web_fetch).
///
/// Without a proxy, it connects only to addresses that were checked when the host name was resolved: public ones, and
/// those that [`permit`](WebClientBuilder::permit) allows. It sends no cookie, no credential and no header that a model
/// chooses.
///
/// ```
/// use toolwright_toolbox::WebClient;
///
/// let client = WebClient::new()?;
/// # let _ = client;
/// # Ok::<(), toolwright_toolbox::WebClientError>(())
/// ```
#[derive(Clone)]
pub struct WebClient {
    http: Client,
    guard: AddressGuard,
    /// Whether a proxy resolves host names. If so, the names are checked by the addresses that this machine finds.
    has_proxy: bool,
    limits: Limits,
}

/// Settings from which a [`WebClient`] is made.
#[must_use = "it is a client only after `build`"]
pub struct WebClientBuilder {
    guard: AddressGuard,
    proxy: Option<String>,
    limits: Limits,
}

#[derive(Debug, Clone, Copy)]
struct Limits {
    first_byte: Duration,
    whole: Duration,
}

/// Why no client can be made: the system provides no TLS, or the URL of the proxy or of the API is invalid.
#[derive(thiserror::Error)]
#[error("{what}")]
pub struct WebClientError {
    what: &'static str,
    source: reqwest::Error,
}
toolwright::unstable::debug_as_sentence!(WebClientError);

impl WebClientError {
    /// Makes the error for an API address that is not a URL. The address may hold a credential, so the error does not
    /// repeat it.
    #[cfg(feature = "context-store")]
    pub(crate) fn address(error: reqwest::Error) -> Self {
        let what = "the address of the API is no URL of HTTP, expected one such as `https://api.openai.com/v1`";
        Self { what, source: error.without_url() }
    }
}

impl From<reqwest::Error> for WebClientError {
    fn from(source: reqwest::Error) -> Self {
        Self { what: "a client for the web cannot be made", source }
    }
}

/// A fetched page.
#[derive(Debug)]
pub(super) struct Page {
    /// The URL of the page, after redirects.
    pub(super) url: Url,
    /// The value of the header `content-type`.
    pub(super) kind: String,
    pub(super) body: Vec<u8>,
    /// Whether the page is longer than the part that was read.
    pub(super) is_cut: bool,
}

impl WebClient {
    /// Makes a client that resolves host names with the system's resolver, without a proxy.
    ///
    /// # Errors
    /// When the system provides no TLS.
    pub fn new() -> Result<Self, WebClientError> {
        Self::builder().build()
    }

    /// Makes a builder for a client with other settings.
    pub fn builder() -> WebClientBuilder {
        WebClientBuilder {
            guard: AddressGuard::new(),
            proxy: None,
            limits: Limits { first_byte: FIRST_BYTE, whole: WHOLE },
        }
    }

    /// Fetches a page whose host is allowed. Redirects may lead to the same site and to sites on the list.
    pub(super) async fn fetch(&self, target: Target, hosts: &AllowList) -> Result<Page, ToolError> {
        let until = Instant::now() + self.limits.whole;
        let (first, mut target) = (target.site.clone(), target);
        for _ in 0..=MOST_REDIRECTS {
            self.judge(&target).await?;
            let first_byte = (Instant::now() + self.limits.first_byte).min(until);
            // Forbid compression, since a small compressed answer could expand to a huge one.
            let request = self.http.get(target.url.clone()).header(ACCEPT_ENCODING, "identity");
            let accepted =
                "text/html,application/xhtml+xml,text/*;q=0.9,application/json;q=0.9,*/*;q=0.1";
            let sent = in_time(first_byte, request.header(ACCEPT, accepted).send()).await?;
            let response = sent.map_err(|error| failure::of(&target, error))?;
            match next(&target, &first, hosts, response.status(), response.headers())? {
                Some(next) => target = next,
                None => return self.page(target, response, until).await,
            }
        }
        let message = format!("`{first}` redirects more than {MOST_REDIRECTS} times");
        Err(ToolError::new("too_many_redirects", message))
    }

    /// Refuses literal addresses that are neither public nor permitted and, if there is a proxy, names that resolve to
    /// such addresses.
    async fn judge(&self, target: &Target) -> Result<(), ToolError> {
        let host = target.url.host_str().unwrap_or_default();
        let is_name = target.url.domain().is_some();
        // Without a proxy, the HTTP client itself checks the addresses when it resolves a name.
        match is_name && !self.has_proxy {
            true => Ok(()),
            false => self.guard.judge_host(host).await,
        }
    }

    async fn page(
        &self,
        target: Target,
        mut response: Response,
        until: Instant,
    ) -> Result<Page, ToolError> {
        let status = response.status();
        let headers = response.headers().clone();
        let kind = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
        let encoding = headers.get(CONTENT_ENCODING).and_then(|it| it.to_str().ok());
        if let Some(encoding) = encoding.filter(|it| !it.eq_ignore_ascii_case("identity")) {
            return Err(failure::compressed(&target, encoding));
        }
        let most = if status.is_success() { LARGEST } else { LARGEST_OF_FAILURE };
        let (mut body, mut is_cut) = (Vec::new(), false);
        while !is_cut {
            let piece = in_time(until, response.chunk()).await?;
            let piece = piece.map_err(|error| failure::of(&target, error))?;
            let Some(piece) = piece else { break };
            let room = most - body.len();
            is_cut = piece.len() > room;
            body.extend_from_slice(&piece[..piece.len().min(room)]);
        }
        let page = Page { url: target.url, kind: kind.to_owned(), body, is_cut };
        if status.is_success() {
            Ok(page)
        } else {
            Err(failure::of_status(status, &headers, &page, SystemTime::now()))
        }
    }
}

/// Returns the checked target of a redirect; `None` if the answer is not a redirect.
fn next(
    from: &Target,
    first: &Site,
    hosts: &AllowList,
    status: StatusCode,
    headers: &HeaderMap,
) -> Result<Option<Target>, ToolError> {
    let is_redirect = matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308);
    let Some(location) = headers.get(LOCATION).filter(|_| is_redirect) else { return Ok(None) };
    let location = location.to_str().ok().and_then(|it| from.url.join(it).ok());
    let to = match location {
        Some(location) => {
            Target::of(location).map_err(|error| failure::redirected(from, error.message()))?
        }
        None => return Err(failure::redirected(from, "its target is not a valid address")),
    };
    if from.url.scheme() == "https" && to.url.scheme() == "http" {
        return Err(failure::redirected(from, "it leads to an address without encryption"));
    }
    // If the list cannot be read, redirects may lead only to the allowed site itself.
    if to.site == *first || hosts.contains(&to.site).unwrap_or(false) {
        return Ok(Some(to));
    }
    Err(failure::redirected_elsewhere(from, &to))
}

async fn in_time<T>(until: Instant, waits: impl Future<Output = T>) -> Result<T, ToolError> {
    timeout_at(until, waits).await.map_err(|_| failure::too_slow())
}

impl WebClientBuilder {
    /// Sets the resolver of host names.
    pub fn resolver(mut self, resolver: impl HostResolver) -> Self {
        self.guard = self.guard.resolver(Arc::new(resolver));
        self
    }

    /// Allows pages to be fetched from this non-public address, such as that of a company's server.
    pub fn permit(mut self, address: IpAddr) -> Self {
        self.guard = self.guard.permit(address);
        self
    }

    /// Sends requests through a proxy, such as `http://proxy.example.org:3128`. The proxy resolves host names; this
    /// client checks them with the addresses that this machine finds. If the proxy may find other addresses, the proxy
    /// has to protect private networks itself.
    pub fn proxy(mut self, url: impl Into<String>) -> Self {
        self.proxy = Some(url.into());
        self
    }

    /// Sets the time limit for the first byte of an answer, 10 seconds unless set, and for a whole fetch, 30 seconds unless
    /// set.
    pub fn time(mut self, first_byte: Duration, whole: Duration) -> Self {
        self.limits = Limits { first_byte, whole };
        self
    }

    /// Builds the client.
    ///
    /// # Errors
    /// When the system provides no TLS, or the proxy's URL is invalid.
    pub fn build(self) -> Result<WebClient, WebClientError> {
        let guard = self.guard;
        let http = Client::builder()
            .redirect(redirect::Policy::none())
            .user_agent(concat!("toolwright/", env!("CARGO_PKG_VERSION")))
            .referer(false)
            // Another crate of the build may have switched these on, and a server may compress without being asked.
            .no_gzip()
            .no_brotli()
            .no_deflate()
            .no_zstd()
            // Ignore proxies from the environment, which would resolve names without our checks.
            .no_proxy();
        let has_proxy = self.proxy.is_some();
        let http = match self.proxy {
            // Do not check the address of the proxy itself, because the application has chosen it.
            Some(url) => http.proxy(Proxy::all(url)?),
            None => http.dns_resolver(Arc::new(guard.clone())),
        };
        Ok(WebClient { http: http.build()?, guard, has_proxy, limits: self.limits })
    }
}

impl fmt::Debug for WebClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WebClient").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl fmt::Debug for WebClientBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("WebClientBuilder")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
