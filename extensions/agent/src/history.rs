//! A provider-independent history: its rules, the shortened form in which a model gets a long history, and the user's
//! prompts.

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
    CompactReport, Room, SUMMARY_INSTRUCTIONS, Summary, SummaryTask, compact_from, text_tokens,
};
pub use self::import::{HistoryRepair, ImportError, Imported, import};
pub(crate) use self::json::json_of;
pub use self::message::{Message, Verbatim};
pub(crate) use self::message::{RESULT_OF, known};
pub use self::prompt::Prompt;
pub(crate) use self::sources::sources;
