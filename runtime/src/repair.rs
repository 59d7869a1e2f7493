//! What was changed of a call's input so that it satisfies its schema: the report that travels with the call.
//!
//! [`replay`] makes the changes again: the report is complete.

pub use toolwright_core::repairs::{Change, ChangeRule, Repairs};
pub use toolwright_schema::repair::replay;
