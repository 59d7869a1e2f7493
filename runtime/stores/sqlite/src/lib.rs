//! Part of `toolwright`, behind its feature `sqlite`: stores calls in an SQLite file.
#![warn(missing_docs)]

mod sqlite;

pub use sqlite::SqliteStore;
