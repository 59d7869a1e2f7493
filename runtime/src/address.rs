//! Which addresses of the internet are public: what a model or a stranger names must lead to no other.

pub use toolwright_core::address::not_public;
#[cfg(feature = "reqwest")]
#[cfg_attr(docsrs, doc(cfg(feature = "reqwest")))]
pub use toolwright_core::address::{AddressGuard, HostResolver, RefusedAddress};
