//! Toolwright: the executor with its whole pipeline, 1,000 tools registered.

use anyhow::Result;
use toolwright::__private0::{Handle, Spec};
use toolwright::{Call, Calls, Executor, Registry, ToolError, tool};

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

/// Finds lines in files, by a rule that is asked before the call.
#[tool(group = "bench", validate = |pattern, limit| rule(&pattern, limit))]
async fn find_checked(
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

fn rule(pattern: &str, limit: usize) -> Result<(), ToolError> {
    match !pattern.is_empty() && limit > 0 {
        true => Ok(()),
        false => Err(ToolError::invalid("nothing would be found")),
    }
}

/// Measures a text by calling another tool.
#[tool(group = "bench")]
async fn measure_through(
    calls: &Calls,
    /// What to measure.
    text: String,
) -> Result<TextSize, ToolError> {
    calls.to(MEASURE_TEXT).with("text", &text).await_as().await
}

/// An executor with [`super::NAMES`] tools, four of them from this file.
pub struct Ours {
    executor: Executor,
}

impl Ours {
    pub fn new() -> Result<Self> {
        let others = (4..NAMES).map(|number| {
            let name = Box::leak(format!("tool_{number}").into_boxed_str());
            Handle::new(Box::leak(Box::new(Spec { name, ..Spec::EMPTY })))
        });
        let ours = [FIND_TEXT, MEASURE_TEXT, FIND_CHECKED, MEASURE_THROUGH];
        let registry = Registry::of(ours.into_iter().chain(others))?;
        Ok(Self { executor: Executor::builder(registry).unrestricted().build()? })
    }

    /// Calls `find_text` with this text, and returns the text of the answer.
    pub async fn find_text(&self, text: &str) -> Result<String> {
        Ok(self.executor.call(&Call::new("find_text", text)).await.into_text())
    }

    /// Calls `measure_text` with this text, and returns the text of the answer.
    pub async fn measure_text(&self, text: &str) -> Result<String> {
        Ok(self.executor.call(&Call::new("measure_text", text)).await.into_text())
    }

    /// Calls `find_checked`, which has a validation rule, and returns the text of the answer.
    pub async fn find_checked(&self, text: &str) -> Result<String> {
        Ok(self.executor.call(&Call::new("find_checked", text)).await.into_text())
    }

    /// Calls `measure_through`, which calls `measure_text`, and returns the text of the answer.
    pub async fn measure_through(&self, text: &str) -> Result<String> {
        Ok(self.executor.call(&Call::new("measure_through", text)).await.into_text())
    }

    /// Calls `measure_text` twice, and returns the text of the second answer.
    pub async fn measure_twice(&self, text: &str) -> Result<String> {
        std::hint::black_box(self.measure_text(text).await?);
        self.measure_text(text).await
    }
}
