//! A history that no provider owns, what holds of every one, what a model gets of a long one, and what a user says.

mod check;
mod compaction;
mod import;
mod json;
mod message;
mod prompt;
mod sources;

pub use self::check::{HistoryProblem, check};
pub use self::compaction::LeftOut;
pub(crate) use self::compaction::{
    CompactReport, Room, SUMMARY_INSTRUCTIONS, Summary, SummaryTask, compact, text_tokens,
};
pub use self::import::{HistoryRepair, ImportError, Imported, import};
pub(crate) use self::json::json_of;
pub(crate) use self::message::known;
pub use self::message::{Message, Verbatim};
pub use self::prompt::Prompt;
pub(crate) use self::sources::sources;
