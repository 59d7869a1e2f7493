//! The loop of an agent over [`toolwright`]: asks a [`Model`], runs the calls of its answer as one turn, sends the
//! answers back, and repeats until the task is done.
//!
//! Each of these modules uses only the modules before it in the list, and the [`Agent`]: `history`, `results`,
//! `limits`, `search`, `model`, `recording`, `http`, `events`, `guards`, `plugin`, `guidance`, `run`, `durable`,
//! `agent`.
//!
//! - [`Message`]s make up a history that is independent of providers. [`check`] checks that each call has one answer.
//! - [`step`] decides the next step. It is pure: it takes [`State`] and [`StepInput`], and returns [`State`] and [`Action`]s.
//! - [`Agent`] and [`AgentRun`] carry the actions out: they ask the model, run each turn on the tools that the model was
//!   shown, and notify listeners.
//! - [`durable`] records runs, so that another process can resume them.
//!
//! ```text
//!   user ──▶ AgentRun ──▶ step ──▶ Ask ───▶ Model ───────────▶ ModelAnswer ──▶ step
//!                                  Call ──▶ executor's turn ──▶ answers ──────▶ step
//!                                  Append ▶ history
//!                                  End ───▶ RunEnd
//! ```
#![warn(missing_docs)]

mod agent;
pub mod durable;
mod events;
mod guards;
mod guidance;
mod history;
#[cfg(feature = "http")]
pub mod http;
mod limits;
mod model;
mod plugin;
#[cfg(any(feature = "http", feature = "testing"))]
pub mod recording;
mod results;
mod run;
mod search;
#[cfg(feature = "testing")]
pub mod testing;

pub use self::agent::{
    Agent, AgentBuilder, AgentError, Chat, ChatTurn, HandOff, Instructions, IntoInstructions,
    IntoModel, ModelNameError, NewExecutor, NumberedStream, Partial, PartialStream, PersonLater,
    Reviewer, RunError, RunHandle, RunRequest, RunResult, RunStream, Steering, SubAgent,
    SubAgentAnswer, TypedRequest, TypedResult,
};
pub use self::events::{
    CalledTool, GuardAction, GuardReport, GuardStage, NoticeKind, NumberedEvent, RunEnd, RunEvent,
    RunEvents, RunNotice, ToolCallEvent, ToolResultEvent,
};
pub use self::guards::{
    AfterDecision, AnswerChange, BeforeDecision, EndingRun, ForbiddenText, ForeignInstructions,
    Guard, GuardedRun, IncomingAnswer, IntoGuards, OutgoingRequest, PatternError, RequestChange,
    Secrets, SizeLimit, UserPrompt,
};
#[cfg(feature = "skills")]
pub use self::guidance::{ActiveSkills, SkillProblem, Skills, SkillsError};
pub use self::guidance::{InstructionFiles, InstructionFilesError};
pub use self::history::{
    HistoryProblem, HistoryRepair, ImportError, Imported, LeftOut, Message, Prompt, Verbatim,
    check, import,
};
pub use self::limits::{
    Accounts, Ceiling, CeilingOf, Cost, CostError, Limit, Limits, Period, PeriodSpending, Price,
    Prices, PricesError, Rates, Spending, TotalUsage, Usage, UsageRecorder,
};
pub use self::model::{
    ContextSize, Delta, DeltaListener, Effort, Fallback, FallbackBuilder, FellBack, Model,
    ModelAnswer, ModelError, ModelRequest, ModelSettings, Omitted, OutputFormat, PromptCache,
    ProviderTool, Reasoning, RequestLimits, StopReason, ToolChoice,
};
pub use self::plugin::{
    EndedRun, NextTurn, Plugin, PluginError, PluginFailure, PluginProblem, PluginState,
    PluginStates, Plugins, StateError,
};
pub use self::results::AnswerBudget;
pub use self::run::{
    Action, AgentRun, AgentRunBuilder, BackgroundCall, ExpectedOutput, OutputError, StartError,
    State, StepInput, Stopped, Turn, step,
};
#[cfg(feature = "testing")]
pub use self::testing::{ScriptedModel, ScriptedRequest};
