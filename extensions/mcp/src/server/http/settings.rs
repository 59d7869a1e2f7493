//! The application's settings for its HTTP server.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use super::TokenCheck;

#[derive(Clone, Default)]
pub(in crate::server) struct Settings {
    pub(super) tokens: Option<Arc<dyn TokenCheck>>,
    pub(super) resource: Option<Resource>,
    pub(super) hosts: Vec<String>,
    pub(super) origins: Vec<String>,
}

/// The protected resource for which tokens are issued.
#[derive(Debug, Clone)]
pub(super) struct Resource {
    pub(super) url: String,
    pub(super) servers: Vec<String>,
}

impl Resource {
    /// Returns the URL of the resource's metadata: the well-known path, followed by the resource's own path.
    pub(super) fn metadata(&self) -> String {
        const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
        let start = self.url.find("://").map_or(0, |scheme| scheme + 3);
        let end = self.url[start..].find('/').map_or(self.url.len(), |path| start + path);
        let (origin, path) = self.url.split_at(end);
        format!("{origin}{WELL_KNOWN}{}", path.trim_end_matches('/'))
    }
}

impl Settings {
    /// Returns the allowed values of the header `Host`.
    pub(super) fn hosts(&self, address: SocketAddr) -> Vec<String> {
        let mut hosts = self.hosts.clone();
        if address.ip().is_loopback() {
            hosts.extend(["localhost", "127.0.0.1", "::1"].map(str::to_owned));
        }
        hosts
    }

    /// Returns the allowed values of `Origin`. A request without this header is allowed, because browsers send the
    /// header with every `POST` of a page.
    pub(super) fn origins(&self, address: SocketAddr) -> Vec<String> {
        let mut origins = self.origins.clone();
        if address.ip().is_loopback() {
            let port = address.port();
            let own =
                ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:{port}"));
            origins.extend(own);
        }
        origins
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut settings = formatter.debug_struct("Settings");
        settings.field("tokens", &self.tokens.is_some()).field("resource", &self.resource);
        settings.field("hosts", &self.hosts).field("origins", &self.origins).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_stands_before_the_path_of_what_is_protected() {
        let of = |url: &str| Resource { url: url.to_owned(), servers: Vec::new() }.metadata();
        let well_known = "https://a.example/.well-known/oauth-protected-resource";
        assert_eq!(of("https://a.example/mcp"), format!("{well_known}/mcp"));
        assert_eq!(of("https://a.example/"), well_known);
        assert_eq!(of("https://a.example"), well_known);
    }
}
