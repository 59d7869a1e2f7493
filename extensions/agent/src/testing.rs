//! For tests, behind the feature `testing`: a server that serves a recording.

pub use crate::replay::{Difference, Placeholders, Replay, ReplayBuilder, ReplayError};
