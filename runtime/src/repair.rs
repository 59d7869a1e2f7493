//! The changes that were made to a call's input so that it satisfies the schema. The list of changes is passed on with
//! the call.
//!
//! The list contains every change, so [`replay`] can make the changes again. It cannot do so after a change of a
//! secret, because the list does not contain the values of secrets.

pub use toolwright_core::repairs::{Change, ChangeRule, Repairs};
pub use toolwright_schema::repair::replay;
