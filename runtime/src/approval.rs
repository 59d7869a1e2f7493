//! What a person has to agree to, and how they say so.
//!
//! - A [`Statement`] is what somebody says of a call or a grant; an [`ApproverKey`] signs it, [`Enrolled`] says whose
//!   word counts.
//! - A [`Desk`] takes signed statements to a journal.
//! - A [`Grant`] allows calls in advance, as far as its [`GrantTerms`] go.

mod covers;
mod desk;
mod grant;
mod granted;
mod key;
mod key_file;
mod say;
mod statement;

pub use covers::{Asked, NotCovered, UselessTerms};
pub use desk::{Desk, DeskError, Submitted};
pub use grant::{Clause, GrantTerms, Scope};
pub use granted::{Grant, GrantError};
pub use key::{
    ApproverKey, EnrolError, Enrolled, InvalidPublicKey, NotTheirs, PublicKey, Unverified, Verified,
};
pub use key_file::KeyError;
pub use statement::{Signed, Statement, Subject, UnreadableStatement, Verdict};
