//! For tests, behind the feature `testing`: a server that serves a recording, and what writes one; models that call every
//! tool or count what they are asked; a clock that a test moves.

mod clock;
mod counting;
mod exploring;
mod generated;

pub use self::clock::VirtualClock;
pub use self::counting::CountingModel;
pub use self::exploring::ExploringModel;
pub use self::generated::generated;
pub use crate::replay::{Difference, Placeholders, Recorder, Replay, ReplayBuilder, ReplayError};
