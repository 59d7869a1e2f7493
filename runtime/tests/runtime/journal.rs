//! The machine of calls, by its whole table.

mod failures;
mod table;
