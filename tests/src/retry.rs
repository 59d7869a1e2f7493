//! Failed calls that are tried again, with a journal and without one, and tools that are left alone. The clock is
//! tokio's and stands still while anything can happen, so that every wait is over at once.

mod circuit;
mod defects;
mod exhausted;
mod kept;
mod keyed;
mod plain;
mod support;
mod waiting;
mod whole;
