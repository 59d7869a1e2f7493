//! Part of `toolwright`, which has it behind the feature `sqlite`: calls in an SQLite file.
#![warn(missing_docs)]

mod sqlite;

pub use sqlite::SqliteStore;
