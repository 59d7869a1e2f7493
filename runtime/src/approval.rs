//! What a person has to agree to, and how they say so.

mod grant;
mod statement;

pub use grant::{Clause, GrantTerms, Scope};
pub use statement::{Signed, Statement, Subject, Verdict};
