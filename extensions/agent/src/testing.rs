//! For tests, behind the feature `testing`: a server that serves a recording, and what writes one.

pub use crate::replay::{Difference, Placeholders, Recorder, Replay, ReplayBuilder, ReplayError};
