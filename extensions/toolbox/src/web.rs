//! The web with permission: fetches pages from hosts that a person has allowed, at addresses that were checked, and
//! marks the pages as untrusted.

mod allow_host;
mod allow_list;
mod brave;
mod bundle;
mod client;
mod failure;
mod html;
mod page;
mod search;
mod target;
mod web_fetch;
mod web_search;

use toolwright::Handle;

pub use allow_host::{ALLOW_HOST, allow_host};
pub use allow_list::AllowList;
pub use brave::BraveSearch;
pub use bundle::WebTools;
pub use client::{WebClient, WebClientBuilder, WebClientError};
pub use page::Mode as PageMode;
pub use search::{SearchProvider, SearchResult};
pub use toolwright::address::HostResolver;
pub use web_fetch::{WEB_FETCH, web_fetch};
pub use web_search::{WEB_SEARCH, web_search};

/// The tools of the web. They need a [`WebClient`], an [`AllowList`] and a [`SearchProvider`] as services; [`WebTools`]
/// adds tools and services together.
///
/// ```
/// use toolwright_toolbox::WEB;
///
/// let names: Vec<&str> = WEB.iter().map(|tool| tool.name()).collect();
/// assert_eq!(names, ["web_fetch", "web_search", "allow_host"]);
/// ```
pub const WEB: [Handle; 3] = [WEB_FETCH, WEB_SEARCH, ALLOW_HOST];
