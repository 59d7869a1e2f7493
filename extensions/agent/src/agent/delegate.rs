//! Agents to which the model of a run can give tasks. A sub-agent gains no rights: it has some of its parent's tools,
//! under the same policy and further rules, and spends a part of its parent's budget.
//!
//! ```text
//!   run ──▶ call of `spawn_agent` ──▶ start ──▶ Driver over a ChildRecorder ──▶ SubAgentAnswer
//!                                                  │ its calls: children of that call (`&Calls`)
//!                                                  └ its model's answers: recorded beside them
//! ```
//!
//! If a call of `spawn_agent` begins again, it first replays the recorded answers of the sub-agent's model and of its
//! calls, so that no request is sent twice and no call runs twice.

mod answer;
mod maker;
mod record;
mod start;
mod sub_agent;
mod sub_agents;
mod tools;

pub use self::answer::SubAgentAnswer;
pub use self::sub_agent::SubAgent;
pub(crate) use self::sub_agents::{Link, SubAgents};
pub(crate) use self::tools::SubAgentTools;
