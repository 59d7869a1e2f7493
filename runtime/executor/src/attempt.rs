//! One attempt of a call, with the middleware around it, and the next attempt if it fails. A call of a journal begins
//! its attempts here too.
//!
//! A tool with `&Calls` makes further calls during its attempt, which are its children. A child belongs to a copy of
//! its parent's run, to which a [`Lineage`](crate::call::Lineage) is added. It passes the same stages as any other
//! call.

mod beginning;
mod children;
mod options;
mod places;
mod retrying;
mod staged;
mod stages;

pub(crate) use children::Children;
pub(crate) use retrying::{PATIENCE, random};
pub(crate) use stages::{Progress, Stages};
