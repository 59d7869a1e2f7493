//! Prevents connections to addresses that are not public. A name is resolved once, its addresses are checked, and a
//! client connects only to the checked addresses.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::not_public;
use crate::error::{ErrorClass, ToolError};

/// Resolves host names to addresses. Implement this trait to use another resolver than that of the operating system.
pub trait HostResolver: Send + Sync + 'static {
    /// Returns the addresses of a host name. Fails if the name has no address.
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// Resolves host names with the resolver of the operating system.
struct System;

impl HostResolver for System {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|it| it.ip()).collect())
        })
    }
}

/// The error for an address that is neither public nor permitted by the application.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusedAddress {
    /// The host name or address to which a connection was requested.
    pub host: String,
    /// The address.
    pub address: IpAddr,
    /// The kind of the address in words, such as `a private address`.
    pub what: &'static str,
}
crate::debug_as_sentence!(RefusedAddress);

impl RefusedAddress {
    /// Finds a refused address among the causes of an error, such as the error of a connection to a refused name.
    #[must_use]
    pub fn cause_of<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e Self> {
        let mut cause = Some(error);
        while let Some(it) = cause {
            if let Some(refused) = it.downcast_ref() {
                return Some(refused);
            }
            cause = it.source();
        }
        None
    }
}

impl fmt::Display for RefusedAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` has the address {}, {}", self.host, self.address, self.what)
    }
}

impl Error for RefusedAddress {}

impl From<&RefusedAddress> for ToolError {
    fn from(refused: &RefusedAddress) -> Self {
        let message = format!("{refused}: only connections to public addresses are allowed");
        Self::new("address_refused", message).class(ErrorClass::Final).hint(
            "do not name it in another way; ask the person whether the application may permit it",
        )
    }
}

/// Checks the addresses of hosts that a model, a document or another untrusted source names. Set the guard as the
/// `dns_resolver` of a `reqwest` client. The client then connects by name only to checked addresses. A URL whose host
/// is an IP address uses no resolver: check it with [`judge`](Self::judge). A redirect can lead to such a URL, too. So
/// the client must not follow redirects by itself, unless its redirect policy checks each host.
///
/// ```
/// use toolwright::address::AddressGuard;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let guard = AddressGuard::new();
/// let refused = guard.judge_host("169.254.169.254").await.unwrap_err();
/// assert_eq!(refused.kind(), "address_refused");
/// let permitted = AddressGuard::new().permit("169.254.169.254".parse()?);
/// assert!(permitted.judge_host("169.254.169.254").await.is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct AddressGuard {
    resolver: Arc<dyn HostResolver>,
    /// The addresses that may be reached although they are not public.
    permitted: BTreeSet<IpAddr>,
}

impl AddressGuard {
    /// Makes a guard that resolves names with the resolver of the operating system and permits only public addresses.
    #[must_use]
    pub fn new() -> Self {
        Self { resolver: Arc::new(System), permitted: BTreeSet::new() }
    }

    /// Sets the resolver of host names.
    #[must_use]
    pub fn resolver(mut self, resolver: Arc<dyn HostResolver>) -> Self {
        self.resolver = resolver;
        self
    }

    /// Permits an address that is not public, such as that of an internal server.
    #[must_use]
    pub fn permit(mut self, address: IpAddr) -> Self {
        self.permitted.insert(address);
        self
    }

    /// Checks an IP address that is the host of a URL. A client asks no resolver for an IP address, so the application
    /// has to call this function itself before the request.
    ///
    /// # Errors
    /// When the address is neither public nor permitted.
    pub fn judge(&self, host: &str, address: IpAddr) -> Result<(), RefusedAddress> {
        match not_public(address) {
            Some(what) if !self.permitted.contains(&address) => {
                Err(RefusedAddress { host: host.to_owned(), address, what })
            }
            _ => Ok(()),
        }
    }

    /// Checks the host of a URL, which may be an IP address or a name. Use this function if another program, such as a
    /// proxy, resolves the host of the request.
    ///
    /// # Errors
    /// `address_refused`; `unreachable` if the name has no address or cannot be resolved.
    pub async fn judge_host(&self, host: &str) -> Result<(), ToolError> {
        if let Some(address) = literal(host) {
            return self.judge(host, address).map_err(|refused| (&refused).into());
        }
        match self.addresses(host).await {
            Ok(_) => Ok(()),
            Err(error) => match error.downcast_ref::<RefusedAddress>() {
                Some(refused) => Err(refused.into()),
                None => {
                    let said = crate::untrusted::line(&error.to_string());
                    let message = format!("`{host}` could not be found: {said}");
                    let class = ErrorClass::NotStarted { retry_after: None };
                    Err(ToolError::new("unreachable", message).class(class))
                }
            },
        }
    }

    /// Returns the addresses of a name. If one of them is refused, the whole name is refused, because such a name may
    /// be an attack.
    ///
    /// # Errors
    /// When the name has no address, or has an address that is refused.
    pub async fn addresses(&self, host: &str) -> Result<Vec<IpAddr>, Box<dyn Error + Send + Sync>> {
        let found = self.resolver.resolve(host).await?;
        if found.is_empty() {
            let error = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
            return Err(error.into());
        }
        for address in &found {
            self.judge(host, *address)?;
        }
        Ok(found)
    }
}

/// Parses the host of a URL as an IP address; `None` if it is a name.
fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

impl Default for AddressGuard {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for AddressGuard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("AddressGuard");
        debug.field("permitted", &self.permitted).finish_non_exhaustive()
    }
}

impl Resolve for AddressGuard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let found = guard.addresses(name.as_str()).await?;
            let addresses: Addrs = Box::new(found.into_iter().map(|it| SocketAddr::new(it, 0)));
            Ok(addresses)
        })
    }
}
