//! What of a call is judged: its final arguments, and the digest that a decision is bound to.
//!
//! - [`FinalArguments`] are the arguments that run: policy, approvers and the journal see these and no others.
//! - [`canonical`] gives equal arguments one text, [`fingerprint`] one to equal definitions, and [`digest`] binds a
//!   decision to both.
//! - [`SealingKey`] keeps arguments that hold secrets.

mod digest;
mod filling;
mod final_arguments;
mod fingerprint;
mod sealing;

pub use digest::digest;
pub use final_arguments::FinalArguments;
pub use fingerprint::fingerprint;
pub use sealing::{SealingError, SealingKey};
pub use toolwright_core::json::{ArgumentsError, canonical};
