//! The final arguments of a call, which the policy evaluates, and the digest that a decision is bound to.
//!
//! - [`FinalArguments`] are the arguments that run: policy and approvers see exactly these.
//! - [`canonical`] writes equal arguments as equal texts, [`fingerprint`] gives equal definitions equal digests, and
//!   [`digest`] binds a decision to both.
//! - [`SealingKey`] encrypts arguments that hold secrets.

mod digest;
mod filling;
mod final_arguments;
mod fingerprint;
mod sealing;

pub use digest::{DigestInput, DigestMatch, digest, shown_digest};
pub use filling::endless_defaults;
pub use final_arguments::{FinalArguments, shown_of};
pub use fingerprint::fingerprint;
pub use sealing::{SealingError, SealingKey};
pub use toolwright_core::json::{ArgumentsError, canonical};
