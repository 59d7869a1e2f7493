//! What makes a decision trustworthy: keys, statements, grants, and what people do to a journal.

mod keys;
mod scene;
