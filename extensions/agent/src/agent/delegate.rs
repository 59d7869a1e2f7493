//! Agents to which the model of a run can give tasks. A sub-agent gains no rights: it has some of its parent's tools,
//! under the same policy and any further rules of its own, and spends a part of its parent's budget.
//!
//! ```text
//!   run ──▶ call of `spawn_agent` ──▶ start ──▶ Driver over a ChildRecorder ──▶ SubAgentAnswer
//!                                                  │ its calls: children of that call (`&Calls`)
//!                                                  └ its model's answers: recorded beside them
//! ```
//!
//! A sub-agent that is a tool itself ([`SubAgent::as_tool`]) is started by a call of that tool instead. If the call
//! that started a sub-agent begins again, it first replays the recorded answers of the sub-agent's model and of its
//! calls. A request or call without a recorded answer is made again, if the effect of the call allows that.

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
