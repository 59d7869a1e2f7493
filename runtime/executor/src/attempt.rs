//! One attempt of a call, with the middleware around it, and the next attempt if it fails. A call of a journal begins
//! its attempts here too.
//!
//! An attempt of a tool with `&Calls` makes calls, its children. A child is a call like any other, made in a run of its
//! own, which copies its parent's run and adds a [`Lineage`](crate::call::Lineage): so it passes the same stages, and
//! there is no other way to call a tool.

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
