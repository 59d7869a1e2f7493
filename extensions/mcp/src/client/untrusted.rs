//! The fence around text from a server, which all untrusted sources share.

pub(crate) use toolwright::untrusted::{escaped, fenced, line};
