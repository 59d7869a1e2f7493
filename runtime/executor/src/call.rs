//! The state of a call before and while it runs: the core of its executor, its run, its plan, and what it reports. A
//! [`Core`] belongs to one executor, a [`RunState`] to one run, and a [`Plan`] to one tool.

mod claim;
mod core;
mod covered;
mod delegated;
mod family;
mod foreign;
mod gate;
mod in_turn;
mod journal;
mod journal_config;
mod journal_id;
mod lineage;
mod middleware;
mod nested;
mod outcome;
mod own;
mod plan;
mod problem;
mod ready;
pub(crate) mod record;
mod refusal;
mod remembered;
mod resolve;
mod rules;
mod run_state;
mod unknown;

pub use journal::Journal;
pub use journal_config::OnNoApprover;
pub use middleware::{AfterCall, BeforeCall, Middleware, MiddlewareCall, SharedServices};
pub use outcome::{CallFailure, Outcome, SuspendedCall};
pub use problem::{BuildError, BuildProblem};
pub use resolve::Resolver;

pub use claim::By;
pub use refusal::{CircuitOpen, Refusal};

pub(crate) use claim::Claim;
pub(crate) use core::Core;
pub(crate) use covered::check_covered;
pub(crate) use delegated::DelegatedContext;
pub(crate) use family::Family;
pub(crate) use foreign::Sources;
pub(crate) use gate::{Gate, GateClosed, Pass};
pub(crate) use in_turn::{InTurn, Slot};
pub(crate) use journal_config::{
    Asker, AskerBuilder, Asking, Clock, JournalConfig, LOCAL_APPROVER, later,
};
pub(crate) use lineage::{Lineage, RecordedParent};
pub(crate) use middleware::{Inside, touched};
pub(crate) use nested::NestedCalls;
pub(crate) use own::{context_of, identity_of, own_of, own_with};
pub(crate) use plan::{Gates, Later, Plan, Provisions};
pub(crate) use ready::Ready;
pub(crate) use record::Watch;
pub(crate) use refusal::{GO_ON, NEEDS_ITS_CALLER, NOT_STARTED, cancelled, ended, shutting_down};
pub(crate) use resolve::{FnResolver, Resolving};
pub(crate) use rules::{About, Rules, Surroundings};
pub(crate) use run_state::{Requester, RunState};
pub(crate) use unknown::unknown;
