//! Decisions of people about calls.
//!
//! - A [`Statement`] is a person's decision about a call or a grant. An [`ApproverKey`] signs it, and [`TrustedKeys`]
//!   lists the keys that are valid.
//! - An [`ApprovalService`] submits signed statements to a journal.
//! - An [`Approver`] decides on an [`ApprovalRequest`]. It is a [`Callback`], a [`Channel`], or a person at a
//!   [`Terminal`] (feature `cli`).
//! - A [`Grant`] allows calls in advance, within its [`GrantTerms`].

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
