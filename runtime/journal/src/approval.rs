//! What a person has to agree to, and how they say so.
//!
//! - A [`Statement`] is what somebody says of a call or a grant; an [`ApproverKey`] signs it, [`TrustedKeys`] says whose
//!   word counts.
//! - A [`ApprovalService`] takes signed statements to a journal.
//! - An [`Approver`] is asked about an [`ApprovalRequest`]: a [`Callback`], a [`Channel`], a person at a [`Terminal`].
//! - A [`Grant`] allows calls in advance, as far as its [`GrantTerms`] go.

mod approver;
mod covers;
mod desk;
mod enrolled;
mod grant;
mod granted;
mod key;
mod key_file;
mod layout;
mod request;
mod say;
mod statement;
mod terminal;

pub use approver::{Approver, ApproverError, Callback, Channel, Reply, Response};
pub use covers::{Asked, NotCovered, UselessTerms};
pub use desk::{ApprovalError, ApprovalService, Grants, Submitted};
pub use enrolled::{TrustError, TrustedKeys, Unverified, Verified};
pub use grant::{Clause, GrantTerms, Scope};
pub use granted::{Grant, GrantError};
pub use key::{ApproverKey, InvalidPublicKey, NotTheirs, PublicKey};
pub use key_file::KeyError;
pub use request::ApprovalRequest;
pub use statement::{Decision, Signed, Statement, Subject, UnreadableStatement};
pub use terminal::Terminal;
