//! One run: decides the next step, carries it out, and holds its state.

mod admission;
mod agent_run;
mod asking;
mod background;
mod calling;
mod driver;
mod early;
mod failing;
mod guarded;
mod guarding;
mod handing;
mod inbox;
mod incoming;
pub(crate) mod options;
mod output;
mod preparing;
mod recorder;
mod references;
mod refused;
mod resting;
mod start;
mod state;
mod step;
mod stopped;
mod summarizing;
mod turn;
mod typed_end;
mod unanswered;
mod unapproved;
mod until;

pub use self::agent_run::AgentRun;
pub use self::background::BackgroundCall;
pub(crate) use self::driver::{Driver, Rest, is_turned_away};
pub(crate) use self::guarded::SENT_BACK;
pub(crate) use self::handing::{
    HAND_OFF, HANDED_OFF, HandOffTool, is_marked as has_hand_off, last_target,
};
pub(crate) use self::inbox::Inbox;
pub use self::output::OutputError;
pub(crate) use self::output::{Expected, Output};
pub(crate) use self::recorder::{Away, Interruption, Recorder, Stop, TurnOutcome, Work};
pub use self::start::{AgentRunBuilder, StartError};
pub use self::state::State;
pub(crate) use self::step::CUT_SHORT;
pub use self::step::{Action, StepInput, step};
pub use self::stopped::Stopped;
pub use self::turn::Turn;
pub use self::typed_end::ExpectedOutput;
pub(crate) use self::typed_end::{NOT_THE_VALUE, correction};
pub(crate) use self::until::cancellation;
