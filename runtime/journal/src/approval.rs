//! Decisions of people about calls: statements and the keys that sign them, grants, the service that submits statements
//! to a journal, and the approvers that are asked.

mod approver;
mod covers;
mod grant;
mod granted;
mod key;
mod key_file;
mod layout;
mod request;
mod say;
mod service;
mod statement;
mod token;
mod trusted_keys;
mod user_keys;

pub use approver::{Approver, ApproverError, Callback, Channel, Reply, Response};
pub use covers::{GrantCandidate, NotCovered, UselessTerms};
pub use grant::{Clause, GrantTerms, Scope};
pub use granted::{Grant, GrantError};
pub use key::{ApproverKey, InvalidPublicKey, NotTheirs, PublicKey};
pub use key_file::KeyError;
pub use request::ApprovalRequest;
pub use service::{ApprovalError, ApprovalService, Grants, ShownCall, SubmitOutcome};
pub use statement::{Decision, SignedStatement, Statement, Subject, UnreadableStatement};
pub use token::{HandOverToken, InvalidToken};
pub use trusted_keys::{TrustError, TrustedKeys, VerifiedStatement, VerifyError};
pub use user_keys::UserKeys;
