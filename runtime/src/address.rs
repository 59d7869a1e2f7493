//! Decides which addresses are public on the internet. A URL from a model or another untrusted source may lead only to
//! public addresses.

pub use toolwright_core::address::not_public;
#[cfg(feature = "reqwest")]
#[cfg_attr(docsrs, doc(cfg(feature = "reqwest")))]
pub use toolwright_core::address::{AddressGuard, HostResolver, RefusedAddress};
