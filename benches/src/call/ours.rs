//! Toolwright: the executor with its whole pipeline, 1,000 tools registered.

use anyhow::Result;
use toolwright::__private0::{Handle, Spec};
use toolwright::{Call, Executor, Registry, tool};

use super::NAMES;
use super::floor::{self, Matches, TextSize, Window};

/// Finds lines in files.
#[tool(group = "bench")]
async fn find_text(
    /// What to look for.
    pattern: String,
    /// How many matches to return.
    limit: usize,
    /// The folder to search; all when absent.
    folder: Option<String>,
    /// Match whole words only.
    whole_words: bool,
    /// How much to show around a match.
    window: Window,
) -> Matches {
    floor::matches(pattern, limit, folder, whole_words, window)
}

/// Measures a text.
#[tool(group = "bench")]
async fn measure_text(
    /// What to measure.
    text: String,
) -> TextSize {
    floor::size(&text)
}

/// An executor over [`super::NAMES`] tools, two of them those of `floor.rs`.
pub struct Ours {
    executor: Executor,
}

impl Ours {
    pub fn new() -> Result<Self> {
        let others = (2..NAMES).map(|number| {
            let name = Box::leak(format!("tool_{number}").into_boxed_str());
            Handle::new(Box::leak(Box::new(Spec { name, ..Spec::EMPTY })))
        });
        let registry = Registry::of([FIND_TEXT, MEASURE_TEXT].into_iter().chain(others))?;
        Ok(Self { executor: Executor::builder(registry).unrestricted().build()? })
    }

    /// Calls `find_text` by name with this text; the text of the answer.
    pub async fn find_text(&self, text: &str) -> Result<String> {
        Ok(self.executor.call(&Call::new("find_text", text)).await.into_text())
    }

    /// Calls `measure_text` by name with this text; the text of the answer.
    pub async fn measure_text(&self, text: &str) -> Result<String> {
        Ok(self.executor.call(&Call::new("measure_text", text)).await.into_text())
    }
}
