//! When a call is tried again: the policy by its whole table, the header of servers, and the classes of errors that
//! convert by themselves.

mod building;
mod errors;
mod header;
mod http;
mod policy;
