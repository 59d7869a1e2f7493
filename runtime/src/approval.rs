//! What a person has to agree to, and how they say so.
//!
//! - A [`Statement`] is what a person says of a call or a grant; an [`ApproverKey`] signs it, [`TrustedKeys`] says whose
//!   word counts.
//! - An [`ApprovalService`] takes signed statements to a journal.
//! - An [`Approver`] is asked about an [`ApprovalRequest`]: a [`Callback`], a [`Channel`], a person at a
//!   [`Terminal`] (feature `cli`).
//! - A [`Grant`] allows calls in advance, as far as its [`GrantTerms`] go.

#[cfg(feature = "cli")]
#[cfg_attr(docsrs, doc(cfg(feature = "cli")))]
pub use toolwright_cli::terminal::Terminal;
pub use toolwright_journal::approval::{
    ApprovalError, ApprovalRequest, ApprovalService, Approver, ApproverError, ApproverKey,
    Callback, Channel, Clause, Decision, Grant, GrantError, GrantTerms, Grants, HandOverToken,
    InvalidPublicKey, InvalidToken, KeyError, NotCovered, NotTheirs, PublicKey, Reply, Response,
    Scope, ShownCall, SignedStatement, Statement, Subject, SubmitOutcome, TrustError, TrustedKeys,
    UnreadableStatement, UselessTerms, VerifiedStatement, VerifyError,
};
