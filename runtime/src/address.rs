//! Decides which addresses of the internet are public: a URL that a model or another untrusted source names may lead
//! only to these.

pub use toolwright_core::address::not_public;
#[cfg(feature = "reqwest")]
#[cfg_attr(docsrs, doc(cfg(feature = "reqwest")))]
pub use toolwright_core::address::{AddressGuard, HostResolver, RefusedAddress};
