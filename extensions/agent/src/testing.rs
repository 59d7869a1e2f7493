//! Helpers for tests, behind the feature `testing`: a recorder of exchanges and a server that replays them, models that
//! follow a script, call every tool or count their requests, a generator of input, and a clock that a test moves.

mod clock;
mod counting;
mod exploring;
mod generated;
mod replay;
mod scripted;

pub use self::clock::VirtualClock;
pub use self::counting::CountingModel;
pub use self::exploring::ExploringModel;
pub use self::generated::generated;
pub use self::replay::{Difference, Placeholders, Recorder, Replay, ReplayBuilder, ReplayError};
pub use self::scripted::{ScriptedModel, ScriptedRequest};
