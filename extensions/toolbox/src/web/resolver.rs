//! Resolves the names of hosts, and lets a connection have no address that is not public.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use toolwright::address::not_public;

/// Finds the addresses of a host. An application that asks another server of names than the system does implements it.
pub trait HostResolver: Send + Sync + 'static {
    /// The addresses of the name; an error where it has none.
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// Asks the system.
pub(super) struct System;

impl HostResolver for System {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|it| it.ip()).collect())
        })
    }
}

/// An address that is not connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RefusedAddress {
    pub(super) host: String,
    pub(super) address: IpAddr,
    pub(super) what: &'static str,
}

impl fmt::Display for RefusedAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` has the address {}, {}", self.host, self.address, self.what)
    }
}

impl Error for RefusedAddress {}

/// Judges the addresses of hosts. The connection is made to those that it returns, so that a name is resolved once.
#[derive(Clone)]
pub(super) struct Guard {
    resolver: Arc<dyn HostResolver>,
    /// Addresses that are reached although they are not public.
    permitted: BTreeSet<IpAddr>,
}

impl Guard {
    pub(super) fn new(resolver: Arc<dyn HostResolver>, permitted: BTreeSet<IpAddr>) -> Self {
        Self { resolver, permitted }
    }

    /// Judges an address that is written as such: a connection to it asks no resolver.
    pub(super) fn judge(&self, host: &str, address: IpAddr) -> Result<(), RefusedAddress> {
        match not_public(address) {
            Some(what) if !self.permitted.contains(&address) => {
                Err(RefusedAddress { host: host.to_owned(), address, what })
            }
            _ => Ok(()),
        }
    }

    /// The addresses of a name. One that is refused refuses all: a name that has such a one is not what it seems.
    pub(super) async fn addresses(
        &self,
        host: &str,
    ) -> Result<Vec<IpAddr>, Box<dyn Error + Send + Sync>> {
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

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let found = guard.addresses(name.as_str()).await?;
            let addresses: Addrs = Box::new(found.into_iter().map(|it| SocketAddr::new(it, 0)));
            Ok(addresses)
        })
    }
}
