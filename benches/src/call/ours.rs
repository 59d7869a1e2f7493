//! Toolwright: the executor with its whole pipeline, 1,000 tools registered.

use std::cell::RefCell;

use anyhow::Result;
use toolwright::__private0::{Handle, Spec};
use toolwright::journal::{Journal, MemoryStore};
use toolwright::{Call, Calls, Executor, OnNoApprover, Registry, ToolError, tool};

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
    /// An executor with a journal in memory, and the number of its calls. It is made anew from time to time, because the
    /// store in memory grows with every call.
    recorded: RefCell<(u32, Executor)>,
}

/// How many calls a journal in memory records before it is replaced.
const RECORDED: u32 = 20_000;

fn recorded(registry: &Registry) -> Result<Executor> {
    let journal = Journal::new(MemoryStore::new()).on_no_approver(OnNoApprover::Park);
    Ok(Executor::builder(registry.clone()).unrestricted().journal(journal).build()?)
}

impl Ours {
    pub fn new() -> Result<Self> {
        let others = (4..NAMES).map(|number| {
            let name = Box::leak(format!("tool_{number}").into_boxed_str());
            Handle::new(Box::leak(Box::new(Spec { name, ..Spec::EMPTY })))
        });
        let ours = [FIND_TEXT, MEASURE_TEXT, FIND_CHECKED, MEASURE_THROUGH];
        let registry = Registry::of(ours.into_iter().chain(others))?;
        let recorded = RefCell::new((0, recorded(&registry)?));
        Ok(Self { executor: Executor::builder(registry).unrestricted().build()?, recorded })
    }

    /// Calls `find_text` with this text, and returns the text of the answer.
    pub async fn find_text(&self, text: &str) -> Result<String> {
        Ok(self.executor.call(&Call::new("find_text", text)).await.into_text())
    }

    /// Calls `find_text` by the executor with a journal in memory, and returns the text of the answer.
    pub async fn find_recorded(&self, text: &str) -> Result<String> {
        let executor = {
            let (calls, executor) = &mut *self.recorded.borrow_mut();
            *calls += 1;
            if calls.is_multiple_of(RECORDED) {
                *executor = recorded(executor.registry())?;
            }
            executor.clone()
        };
        Ok(executor.call(&Call::new("find_text", text)).await.into_text())
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
