//! How the commands show records of the journal to people and programs. Programs rely on the keys of the JSON objects.

pub(crate) mod call;
pub(crate) mod dead_letter;
pub(crate) mod decision;
pub(crate) mod entry;
pub(crate) mod family;
pub(crate) mod grant;
pub(crate) mod json;
pub(crate) mod printable;
pub(crate) mod run;
pub(crate) mod sent;
pub(crate) mod sheet;
pub(crate) mod table;
pub(crate) mod when;
