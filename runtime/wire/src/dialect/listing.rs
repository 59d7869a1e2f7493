//! The tools of an application as one provider is shown them, and the way back from what its models
//! call them.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Value, value::RawValue};

use super::rules::Rules;
use super::{Described, Dialect, Finding, Severity, nulls, render};
use crate::provider::{MessageError, ToolCall};
use toolwright_core::output::Answer;

/// Tools in the form that one provider takes. Cheap to clone; made once, it is only lent.
///
/// ```
/// use toolwright::dialect::Dialect;
/// use toolwright::{Registry, tool};
///
/// /// Starts a build.
/// #[tool(name = "build.start")]
/// async fn start_build() {}
///
/// let listing = Registry::of([START_BUILD])?.listing(Dialect::OpenAiChat)?;
/// assert_eq!(
///     listing.tools().get(),
///     concat!(
///         r#"[{"type":"function","function":{"name":"build_start","description":"Starts a build.","#,
///         r#""parameters":{"type":"object","properties":{},"required":[],"additionalProperties":false}}}]"#,
///     )
/// );
///
/// let message = r#"[{"id":"call_1","type":"function","function":{"name":"build_start","arguments":"{}"}}]"#;
/// assert_eq!(listing.tool_calls(message)?[0].name, "build.start");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Listing(Arc<Inner>);

struct Inner {
    dialect: Dialect,
    tools: Box<RawValue>,
    notes: Vec<Finding>,
    /// The application's names by the model's, and the other way round, where they differ.
    names: HashMap<String, String>,
    shown: HashMap<String, String>,
    /// By the application's names, where an absent key is sent as `null`.
    schemas: HashMap<String, Value>,
}

impl Listing {
    /// The tools that are shown, and the names of those that can be called all the same.
    #[doc(hidden)]
    pub fn new<'a>(
        dialect: Dialect,
        tools: impl Iterator<Item = Described<'a>> + Clone,
        unlisted: impl Iterator<Item = &'a str>,
    ) -> Result<Self, Vec<Finding>> {
        let (text, rendered) = render::tools(dialect, tools.clone(), unlisted)?;
        let keeps_schemas = Rules::of(dialect).absent_is_null;
        let mut inner = Inner {
            dialect,
            tools: text,
            notes: Vec::new(),
            names: HashMap::new(),
            shown: HashMap::new(),
            schemas: HashMap::new(),
        };
        for (tool, rendered) in tools.zip(rendered) {
            if rendered.name != tool.name {
                inner.names.insert(rendered.name.clone(), tool.name.to_owned());
                inner.shown.insert(tool.name.to_owned(), rendered.name);
            }
            if keeps_schemas {
                inner.schemas.insert(tool.name.to_owned(), tool.input_schema.clone());
            }
            inner.notes.extend(rendered.notes);
        }
        Ok(Self(Arc::new(inner)))
    }

    /// The form.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.0.dialect
    }

    /// The value of `tools` in a request, as JSON text; for MCP in the result of `tools/list`.
    #[must_use]
    pub fn tools(&self) -> &RawValue {
        &self.0.tools
    }

    /// What models are told in words.
    #[must_use]
    pub fn notes(&self) -> &[Finding] {
        &self.0.notes
    }

    /// The tool calls of a message by the application's names, absent keys left out.
    ///
    /// # Errors
    /// As [`Provider::tool_calls`](crate::provider::Provider::tool_calls); for MCP, whose messages are a
    /// library's, always: give its calls to [`received`](Self::received).
    pub fn tool_calls(&self, message: &str) -> Result<Vec<ToolCall>, MessageError> {
        let calls = self.provider()?.tool_calls(message)?;
        Ok(calls.into_iter().map(|call| self.received(call)).collect())
    }

    /// The message that carries the answers back, by the names that the model knows.
    ///
    /// # Errors
    /// As [`Provider::tool_results`](crate::provider::Provider::tool_results); for MCP always: see
    /// [`call_tool_result`](super::call_tool_result).
    pub fn tool_results(&self, answered: &[(ToolCall, Answer)]) -> Result<Value, MessageError> {
        self.provider()?.results_by(answered, |name| self.shown_name(name))
    }

    /// A call as the model made it, as the application takes it.
    #[must_use]
    pub fn received(&self, mut call: ToolCall) -> ToolCall {
        if let Some(name) = self.0.names.get(&call.name) {
            call.name.clone_from(name);
        }
        if let Some(schema) = self.0.schemas.get(&call.name)
            && let std::borrow::Cow::Owned(text) = nulls::removed(schema, &call.arguments)
        {
            call.arguments = text;
        }
        call
    }

    /// The name by which models call the tool.
    #[must_use]
    pub fn shown_name<'a>(&'a self, name: &'a str) -> &'a str {
        self.0.shown.get(name).map_or(name, String::as_str)
    }

    fn provider(&self) -> Result<crate::provider::Provider, MessageError> {
        let dialect = self.0.dialect;
        dialect.provider().ok_or(MessageError::NoMessages { dialect })
    }
}

impl fmt::Debug for Listing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Listing")
            .field("dialect", &self.0.dialect)
            .field("tools", &self.0.tools)
            .finish_non_exhaustive()
    }
}

/// Why tools cannot be shown to a provider: every finding, notes among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialectError {
    /// At least one of them is an error.
    pub findings: Vec<Finding>,
}

impl fmt::Display for DialectError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("not every tool can be shown to the provider")?;
        let errors = self.findings.iter().filter(|it| it.severity == Severity::Error);
        errors.into_iter().try_for_each(|finding| write!(formatter, "\n- {finding}"))
    }
}

impl std::error::Error for DialectError {}
