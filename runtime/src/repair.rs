//! The changes that repaired a call's input to satisfy its schema; the report is passed on with the call.
//!
//! [`replay`] makes the changes again: the report is complete.

pub use toolwright_core::repairs::{Change, ChangeRule, Repairs};
pub use toolwright_schema::repair::replay;
