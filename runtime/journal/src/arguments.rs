//! The final arguments of a call, which the policy evaluates, and the digest that a decision is bound to.
//!
//! - [`FinalArguments`] are the arguments that run. The policy evaluates these arguments, and approvers see them with
//!   secrets masked.
//! - [`canonical`] writes equal arguments as equal texts. [`fingerprint`] gives equal definitions equal digests.
//!   [`digest`] binds a decision to the arguments and to the definition.
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
