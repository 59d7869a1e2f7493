//! What makes a decision trustworthy: keys, statements, grants, and what people do to a journal.

mod approvers;
mod between;
mod dead_letters;
mod forged;
mod grants;
mod keys;
mod one_step;
mod races;
mod scene;
mod service;
mod terms;
