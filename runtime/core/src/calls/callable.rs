//! A description of a tool, for another tool that calls it by its name.

use std::sync::Arc;

use crate::spec::Handle;
use crate::tool::{Definition, Exposure};

/// A tool that a run can call, as [`Calls::find`](super::Calls::find) returns it.
///
/// ```
/// use toolwright::{Call, Calls, Executor, Registry, ToolError, tool};
///
/// /// Ends the conversation.
/// #[tool(effect = read, terminal)]
/// async fn finish() {}
///
/// /// Calls a tool without input, unless it would end the conversation.
/// #[tool(effect = read)]
/// async fn call_by_name(
///     calls: &Calls,
///     /// Which.
///     tool: String,
/// ) -> Result<String, ToolError> {
///     let found = calls.find(&tool).await?;
///     if found.is(CALL_BY_NAME) || found.is_terminal() {
///         return Err(ToolError::new("forbidden_tool", format!("`{tool}` is not called from here")));
///     }
///     Ok(calls.call(&Call::new(tool, "{}")).await.text().into_owned())
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let executor = Executor::builder(Registry::of([FINISH, CALL_BY_NAME])?).build()?;
/// for (name, expected) in [("finish", "forbidden_tool"), ("call_by_name", "forbidden_tool"), ("finis", "unknown_tool")] {
///     let answer = executor.call(&Call::new("call_by_name", format!(r#"{{"tool":"{name}"}}"#))).await;
///     assert_eq!(answer.error().expect("no such call").kind(), expected);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct CallableTool {
    name: Arc<str>,
    tool: Option<Handle>,
    is_terminal: bool,
    is_hidden: bool,
    secrets: Vec<String>,
}

impl CallableTool {
    #[doc(hidden)]
    #[must_use]
    pub fn new(definition: &Definition, tool: Handle) -> Self {
        Self {
            name: definition.name.as_str().into(),
            tool: Some(tool),
            is_terminal: definition.terminal,
            is_hidden: definition.exposure == Exposure::Hidden,
            secrets: definition.secrets().map(str::to_owned).collect(),
        }
    }

    /// Describes a tool of which only the name is known.
    pub(super) fn unknown(name: &str) -> Self {
        Self {
            name: name.into(),
            tool: None,
            is_terminal: false,
            is_hidden: false,
            secrets: Vec::new(),
        }
    }

    /// Returns the name by which the run can call the tool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether the handle refers to this tool, even if the application renamed the tool.
    #[must_use]
    pub fn is(&self, tool: Handle) -> bool {
        self.tool.is_some_and(|mine| mine.is_of(tool.spec()))
    }

    /// Returns whether a successful call of the tool ends the run of an agent.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Returns whether the tool is hidden from models, so that only programs of the application may call it.
    #[must_use]
    pub fn is_hidden(&self) -> bool {
        self.is_hidden
    }

    /// Returns the names of the tool's parameters whose values are secret.
    #[must_use]
    pub fn secrets(&self) -> &[String] {
        &self.secrets
    }
}
