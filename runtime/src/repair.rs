//! The changes that were made to a call's input so that it satisfies the schema. The list of changes is passed on with
//! the call.
//!
//! The list is complete, so [`replay`] can make the changes again.

pub use toolwright_core::repairs::{Change, ChangeRule, Repairs};
pub use toolwright_schema::repair::replay;
