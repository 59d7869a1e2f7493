//! Models: the interface, requests and answers, streaming, errors, and several models that act as one.

mod context_size;
mod delta;
mod error;
mod fallback;
mod interface;
mod omitted;
mod output;
mod settings;

pub use self::context_size::ContextSize;
pub(crate) use self::delta::Passing;
pub use self::delta::{Delta, DeltaListener};
pub use self::error::ModelError;
pub use self::fallback::{Fallback, FallbackBuilder, FellBack};
pub use self::interface::{Model, ModelAnswer, ModelRequest, RequestLimits, StopReason};
pub use self::omitted::Omitted;
pub(crate) use self::output::FINAL_ANSWER;
pub use self::output::OutputFormat;
pub use self::settings::{Effort, ModelSettings, PromptCache, ProviderTool, Reasoning, ToolChoice};
