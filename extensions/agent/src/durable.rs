//! Runs that outlive their processes. A run is a set of documents in the journal that also records its calls. Any
//! process that opens the journal and has the run's agent can drive the run, one process at a time.
//!
//! ```text
//!   Runner ──▶ taking: decide (pure) ──▶ Driver ──▶ RunRecord: one commit for each step
//!     │                                    │            run/<id>/head, run/<id>/turn/<n>/…
//!     └─ work: looks for runs              └─▶ AgentRun: asks the model, runs the calls
//! ```
//!
//! `docs/runs.md` lists the documents, and what a crash before or after each commit leaves behind.

mod acknowledge;
mod away;
mod background;
mod body;
mod builder;
mod by_id;
mod crashes;
mod deadline;
mod decide;
mod driving;
mod error;
mod filter;
mod fork;
mod head;
mod inbox;
mod info;
mod keys;
mod made_of;
mod outage;
mod patience;
mod pause;
mod plugins;
mod progress;
mod reading;
mod recall;
mod record;
mod recorded;
mod remembered;
mod removal;
mod rewind;
mod runner;
mod runs;
mod spoken;
mod stop;
mod sub_agent;
mod submitted;
mod taken_by;
mod taking;
mod tree;
mod turn;
mod work;

pub use self::builder::{RunnerBuilder, RunnerError};
pub(crate) use self::by_id::{ById, Came};
pub use self::decide::{CallStatus, Decision, decide};
pub use self::error::RunError;
pub use self::filter::RunFilter;
pub use self::head::{
    Cancelled, Crashes, Forked, Head, Lease, Parked, Phase, Rewound, WaitingCall,
};
pub(crate) use self::inbox::Urgency;
pub use self::info::{NewRun, RunInfo};
pub use self::outage::Outage;
pub(crate) use self::patience::retry_in_outage;
pub use self::progress::{Progress, Waiting};
pub(crate) use self::remembered::LocalDrivers;
pub use self::rewind::{LastingEffect, Redone, Rewind};
pub use self::runner::Runner;
pub use self::runs::Runs;
pub(crate) use self::sub_agent::{RecordedAnswers, standing};
pub use self::tree::SubAgentRun;
pub use self::turn::RecordedTurn;
