//! What a server writes, as text of a stranger: the fence that all sources share.

pub(crate) use toolwright::untrusted::{escaped, fenced, line};
