//! The tools of an application in the form of one provider. Also maps the names that models use back to the
//! application's names.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::{Value, value::RawValue};

use super::names::sendable_name;
use super::rules::Rules;
use super::{DescribedTool, Dialect, Finding, Severity, nulls, render};
use crate::provider::{MediaSupport, MessageError, ToolCall};
use toolwright_core::output::Answer;

/// Tools in the form of one provider. Make a listing once and share it; it is cheap to clone.
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
    has_deferred: bool,
    notes: Vec<Finding>,
    /// The application's names of the tools, by the names that models use. Only tools whose two names differ are in
    /// this map.
    names: HashMap<String, String>,
    shown: HashMap<String, String>,
    /// The input schemas, by the application's names of the tools. Filled only for a form in which models send `null`
    /// for an absent key.
    schemas: HashMap<String, Value>,
}

impl Listing {
    /// Renders the tools. `unlisted` contains the names of tools that can be called although they are not in the
    /// request.
    #[doc(hidden)]
    pub fn new<'a>(
        dialect: Dialect,
        tools: impl Iterator<Item = DescribedTool<'a>> + Clone,
        unlisted: impl Iterator<Item = &'a str>,
    ) -> Result<Self, Vec<Finding>> {
        let (text, rendered) = render::tools(dialect, tools.clone(), unlisted)?;
        let keeps_schemas = Rules::of(dialect).absent_is_null;
        let mut inner = Inner {
            dialect,
            tools: text,
            has_deferred: tools.clone().any(|tool| tool.deferred),
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

    /// Returns the dialect in which the tools are rendered.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.0.dialect
    }

    /// Returns the value of `tools` in a request, as JSON text. For MCP, this is the value of `tools` in the result of
    /// `tools/list`.
    ///
    /// The keys are in the order in which models should read them: parameters are in the order of the signature. A
    /// `serde_json::Value` sorts its keys, so `json!({ "tools": listing.tools() })` loses this order. A changed order
    /// also invalidates the provider's prefix cache. Make the request with [`request`](Self::request) instead, or
    /// serialise a struct with a field of type `&RawValue`.
    #[must_use]
    pub fn tools(&self) -> &RawValue {
        &self.0.tools
    }

    /// Returns whether the listing has deferred tools. If so, a request needs the provider's search tool as well.
    #[must_use]
    pub fn has_deferred(&self) -> bool {
        self.0.has_deferred
    }

    /// Makes a request with the tools. `rest` contains the other fields of the request; `tools` is added with its keys
    /// in order. Serialise the request directly, with `serde_json::to_string` or an HTTP client's `json`.
    ///
    /// Serialising fails if `rest` is not an object or already has the key `tools`.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwright::dialect::Dialect;
    /// use toolwright::{Registry, tool};
    ///
    /// /// Say how far two cities are apart, in kilometres.
    /// #[tool(effect = read)]
    /// async fn distance(
    ///     /// Where the way begins.
    ///     start: String,
    ///     /// Where it ends.
    ///     end: String,
    /// ) -> u32 {
    ///     u32::from(start != end)
    /// }
    ///
    /// let listing = Registry::of([DISTANCE])?.listing(Dialect::Anthropic)?;
    /// let request = listing.request(json!({ "model": "…", "max_tokens": 1024, "messages": [] }));
    /// let text = serde_json::to_string(&request)?;
    /// assert!(text.find(r#""start""#) < text.find(r#""end""#), "in the order of the signature");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn request<T: Serialize>(&self, rest: T) -> Request<'_, T> {
        Request { rest, tools: &self.0.tools }
    }

    /// Returns notes about changes to the tools, such as constraints that are written into descriptions because the
    /// form has no keyword for them.
    #[must_use]
    pub fn notes(&self) -> &[Finding] {
        &self.0.notes
    }

    /// Reads the tool calls of a message. Converts their names to the application's names, and removes `null` for
    /// absent keys.
    ///
    /// # Errors
    /// As for [`Provider::tool_calls`](crate::provider::Provider::tool_calls). For MCP it always fails, because a
    /// library reads MCP's messages: pass the calls that the library has read to [`received`](Self::received).
    pub fn tool_calls(&self, message: &str) -> Result<Vec<ToolCall>, MessageError> {
        let calls = self.provider()?.tool_calls(message)?;
        Ok(calls.into_iter().map(|call| self.received(call)).collect())
    }

    /// Writes the message that returns the answers to the model, with the tool names that the model knows.
    ///
    /// # Errors
    /// As for [`Provider::tool_results`](crate::provider::Provider::tool_results). For MCP it always fails: see
    /// [`call_tool_result`](super::call_tool_result).
    pub fn tool_results(&self, answered: &[(ToolCall, Answer)]) -> Result<Value, MessageError> {
        self.tool_results_with(answered, None, MediaSupport::Full)
    }

    /// Writes the message that returns the answers, with the given ids instead of the ids of the calls. `ids` has one
    /// id for each call, in the order of the calls. Use it to continue a history with a provider that matches answers
    /// by ids, if the calls have no ids or have ids that this provider refuses.
    ///
    /// # Errors
    /// As for [`tool_results`](Self::tool_results).
    pub fn tool_results_by_ids(
        &self,
        answered: &[(ToolCall, Answer)],
        ids: &[String],
    ) -> Result<Value, MessageError> {
        self.tool_results_with(answered, Some(ids), MediaSupport::Full)
    }

    /// Writes the message that returns the answers to a model that supports the given media. If `ids` is given, they
    /// replace the ids of the calls.
    ///
    /// # Errors
    /// As for [`tool_results`](Self::tool_results).
    pub fn tool_results_with(
        &self,
        answered: &[(ToolCall, Answer)],
        ids: Option<&[String]>,
        support: MediaSupport,
    ) -> Result<Value, MessageError> {
        self.provider()?.results_by(answered, ids, support, |name| self.shown_name(name))
    }

    /// Converts a call from the model's form to the application's form: replaces the tool's name by the application's
    /// name, and removes `null` for absent keys.
    #[must_use]
    pub fn received(&self, mut call: ToolCall) -> ToolCall {
        if let Some(name) = self.0.names.get(&call.name) {
            call.name.clone_from(name);
        }
        if let Some(schema) = self.0.schemas.get(&call.name)
            && let Cow::Owned(text) = nulls::remove_absent(schema, &call.arguments)
        {
            call.arguments = text;
        }
        call
    }

    /// Returns the name by which models call the tool. A history may contain calls of tools that are not listed, because
    /// a model has made up the name or because the tool was listed only in an earlier request. Such a name is converted
    /// into one that the provider accepts, because the provider would refuse every request with another name.
    #[must_use]
    pub fn shown_name<'a>(&'a self, name: &'a str) -> Cow<'a, str> {
        match self.0.shown.get(name) {
            Some(shown) => Cow::Borrowed(shown),
            None => sendable_name(self.0.dialect, name),
        }
    }

    fn provider(&self) -> Result<crate::provider::Provider, MessageError> {
        let dialect = self.0.dialect;
        dialect.provider().ok_or(MessageError::NoMessages { dialect })
    }
}

/// A request that contains the tools of a [`Listing`], made by [`Listing::request`].
///
/// ```
/// use serde_json::json;
/// use toolwright::Registry;
/// use toolwright::dialect::Dialect;
///
/// let listing = Registry::empty().listing(Dialect::Anthropic)?;
/// let request = listing.request(json!({ "messages": [] }));
/// assert_eq!(serde_json::to_string(&request)?, r#"{"messages":[],"tools":[]}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Request<'a, T> {
    rest: T,
    tools: &'a RawValue,
}

impl<T: Serialize> Serialize for Request<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Whole<'a, T> {
            #[serde(flatten)]
            rest: &'a T,
            tools: &'a RawValue,
        }
        let rest = serde_json::to_value(&self.rest).map_err(S::Error::custom)?;
        match rest.as_object() {
            Some(keys) if keys.contains_key("tools") => Err(S::Error::custom(
                "the request has the key `tools` already; leave it out, the listing adds it",
            )),
            Some(_) => Whole { rest: &self.rest, tools: self.tools }.serialize(serializer),
            None => Err(S::Error::custom("the rest of a request is an object")),
        }
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

/// The error for tools that cannot be listed for a provider. It contains all findings, including notes.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DialectError {
    /// The findings. At least one of them is an error.
    pub findings: Vec<Finding>,
}
toolwright_core::debug_as_sentence!(DialectError);

impl DialectError {
    #[doc(hidden)]
    pub fn of(findings: Vec<Finding>) -> Self {
        Self { findings }
    }
}

impl fmt::Display for DialectError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("not every tool can be shown to the provider")?;
        let errors = self.findings.iter().filter(|it| it.severity == Severity::Error);
        errors.into_iter().try_for_each(|finding| write!(formatter, "\n- {finding}"))
    }
}

impl std::error::Error for DialectError {}
