//! The loop of an agent over [`toolwright`]: asks a [`Model`], runs the calls of its answer as one turn, gives the
//! answers back, until the task is done.
//!
//! - [`Message`] is a history that no provider owns; [`check`] says what holds of every one.
//! - [`step`] decides what comes next. It is pure: [`State`] and [`Event`] in, [`State`] and [`Action`]s out.
//! - [`Agent`] and [`AgentRun`] carry the actions out: they ask the model, run each turn on the tools that the model was
//!   shown, and notify listeners.
//! - [`durable`] records runs, so that another process can take them up.
//!
//! ```text
//!   user ──▶ AgentRun ──▶ step ──▶ Ask ───▶ Model ───────────▶ ModelAnswer ──▶ step
//!                                  Call ──▶ executor's turn ──▶ answers ──────▶ step
//!                                  Append ▶ history
//!                                  End ───▶ Ended
//! ```
#![warn(missing_docs)]

mod agent;
mod budget;
mod chat;
mod context_size;
mod delta;
mod ended;
mod events;
mod failing;
mod fallback;
mod history;
mod import;
mod instructions;
mod left_out;
mod message;
mod meter;
mod model;
mod model_error;
mod model_name;
mod notice;
mod prices;
mod prompt;
mod request;
mod result;
mod run;
#[cfg(feature = "testing")]
mod scripted;
mod settings;
mod spans;
mod state;
mod step;
mod stream;
#[cfg(feature = "opentelemetry")]
mod telemetry;
mod usage;

pub use self::agent::{Agent, AgentBuilder, AgentError, NewExecutor};
pub use self::chat::{Chat, ChatTurn};
pub use self::context_size::ContextSize;
pub use self::delta::{Delta, DeltaListener};
pub use self::ended::{Ended, Limit, Limits};
pub use self::events::{
    CalledTool, NumberedEvent, RunEvent, RunEvents, ToolCallEvent, ToolResultEvent,
};
pub use self::fallback::{Fallback, FallbackBuilder, FellBack};
pub use self::history::{HistoryProblem, check};
pub use self::import::{HistoryRepair, ImportError, Imported, import};
pub use self::instructions::{Instructions, IntoInstructions};
pub use self::left_out::LeftOut;
pub use self::message::{Message, Verbatim};
pub use self::meter::Meter;
pub use self::model::{Model, ModelAnswer, ModelRequest, RequestLimits, StopReason};
pub use self::model_error::ModelError;
pub use self::model_name::{IntoModel, ModelNameError};
pub use self::notice::{Notice, NoticeKind};
pub use self::prices::{Price, Prices, PricesError, Rates};
pub use self::prompt::Prompt;
pub use self::request::RunRequest;
pub use self::result::{RunError, RunResult};
pub use self::run::{AgentRun, AgentRunBuilder, StartError, Stopped};
#[cfg(feature = "testing")]
pub use self::scripted::{ScriptedModel, ScriptedRequest};
pub use self::settings::{Effort, ModelSettings, PromptCache, ProviderTool, Reasoning, ToolChoice};
pub use self::state::State;
pub use self::step::{Action, Event, Turn, step};
pub use self::stream::{NumberedStream, RunStream};
pub use self::usage::{Accounts, Cost, CostError, Spent, Usage};

pub mod durable;
#[cfg(feature = "http")]
pub mod http;
#[cfg(any(feature = "http", feature = "testing"))]
pub mod recording;
#[cfg(feature = "testing")]
mod replay;
#[cfg(feature = "testing")]
pub mod testing;

/// The examples of the guide compile and run.
#[cfg(all(doctest, feature = "http", feature = "testing"))]
#[doc = include_str!("../../../docs/agents.md")]
mod guide {}
