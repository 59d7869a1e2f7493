//! What a person has to agree to, and how they say so.

mod grant;
mod key;
mod key_file;
mod say;
mod statement;

pub use grant::{Clause, GrantTerms, Scope};
pub use key::{
    ApproverKey, EnrolError, Enrolled, InvalidPublicKey, NotTheirs, PublicKey, Unverified, Verified,
};
pub use key_file::KeyError;
pub use statement::{Signed, Statement, Subject, UnreadableStatement, Verdict};
