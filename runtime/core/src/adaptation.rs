//! An application's changes to a tool that it did not write, applied before a model sees the tool.

use std::fmt;

use serde_json::Value;

use crate::tool::{Danger, Exposure};

/// An application's changes to a tool that it did not write: a tool of an MCP server, of an HTTP API or of another
/// crate. Pass the adaptation to `Registration::adapted`, to `Registry::adapt` or to `adapt` of a builder.
///
/// | method | what it changes |
/// | --- | --- |
/// | [`exposed`](Self::exposed) | whether a model is shown the tool |
/// | [`danger_at_least`](Self::danger_at_least) | the minimum danger of its calls |
/// | [`asking`](Self::asking) | whether each call needs approval, and the reason |
/// | [`preset`](Self::preset) | the value of an argument, which models then neither see nor set |
/// | [`argument_renamed`](Self::argument_renamed) | the name of an argument |
/// | [`argument_described`](Self::argument_described) | the description of an argument |
///
/// Each change is part of the tool's fingerprint, so approvals that were given before a change no longer count. Changes
/// of arguments are applied in order: a later change uses the names that the earlier changes have set.
///
/// ```
/// use serde_json::json;
/// use toolwright::{Adaptation, Call, DynamicTool, Executor, Registry};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// // As another crate would define it.
/// let schema = json!({
///     "type": "object",
///     "properties": {"owner": {"type": "string"}, "t": {"type": "string"}},
///     "required": ["owner", "t"],
///     "additionalProperties": false,
/// });
/// let create_issue = DynamicTool::new("create_issue", "Creates an issue.", schema, |input, _| async move {
///     Ok(format!("{}: {}", input["owner"], input["t"]))
/// });
///
/// let adaptation = Adaptation::new()
///     .preset("owner", "ada")
///     .argument_renamed("t", "title")
///     .argument_described("title", "One line.");
/// let executor = Executor::builder(Registry::of([create_issue.adapted(adaptation)])?).unrestricted().build()?;
///
/// let definition = executor.registry().get("create_issue").expect("registered");
/// assert_eq!(definition.input_schema["required"], json!(["title"]));
/// let answer = executor.call(&Call::new("create_issue", r#"{"title":"Typo"}"#)).await;
/// assert_eq!(answer.text(), r#""ada": "Typo""#);
/// let refused = executor.call(&Call::new("create_issue", r#"{"title":"Typo","owner":"eve"}"#)).await;
/// assert_eq!(refused.error().expect("an unknown key").kind(), "invalid_input");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use = "an adaptation does nothing until a tool gets it"]
pub struct Adaptation {
    exposure: Option<Exposure>,
    least_danger: Option<Danger>,
    asking: Option<String>,
    arguments: Vec<ArgumentChange>,
}

/// A change of one argument.
#[doc(hidden)]
#[derive(Clone, PartialEq)]
pub enum ArgumentChange {
    Preset { argument: String, value: Value },
    Renamed { from: String, to: String },
    Described { argument: String, text: String },
}

/// Leaves preset values out, because they may be secret.
impl fmt::Debug for ArgumentChange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (change, argument, to) = match self {
            Self::Preset { argument, .. } => ("Preset", argument, None),
            Self::Renamed { from, to } => ("Renamed", from, Some(to)),
            Self::Described { argument, text } => ("Described", argument, Some(text)),
        };
        formatter.debug_tuple(change).field(argument).field(&to).finish()
    }
}

impl Adaptation {
    /// Makes an adaptation without changes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether a model is shown the tool: listed, found only by a search, or hidden from models.
    pub fn exposed(mut self, exposure: Exposure) -> Self {
        self.exposure = Some(exposure);
        self
    }

    /// Raises the danger of each call to at least this level. If the tool declares a higher level, that level
    /// applies.
    pub fn danger_at_least(mut self, danger: Danger) -> Self {
        self.least_danger = self.least_danger.max(Some(danger));
        self
    }

    /// Makes each call need approval, for the given reason. If the tool itself also has a reason, both reasons are
    /// shown.
    pub fn asking(mut self, reason: impl Into<String>) -> Self {
        self.asking = Some(reason.into());
        self
    }

    /// Gives an argument a fixed value. A model does not see the argument and cannot set it: if a model passes it, the
    /// call is refused for an unknown key. Policy, journal and approvers see the value among the final arguments, with
    /// which the tool runs. If the argument's schema refuses the value, registering the tool is an error.
    pub fn preset(mut self, argument: impl Into<String>, value: impl Into<Value>) -> Self {
        let (argument, value) = (argument.into(), value.into());
        self.arguments.push(ArgumentChange::Preset { argument, value });
        self
    }

    /// Renames an argument for models, policy and approvers. The tool still receives the argument under its own name.
    pub fn argument_renamed(mut self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.arguments.push(ArgumentChange::Renamed { from: from.into(), to: to.into() });
        self
    }

    /// Replaces the description of an argument.
    pub fn argument_described(
        mut self,
        argument: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        let (argument, text) = (argument.into(), text.into());
        self.arguments.push(ArgumentChange::Described { argument, text });
        self
    }

    /// Adds the changes of another adaptation. They apply after the changes of this adaptation.
    pub fn and(mut self, then: Self) -> Self {
        self.exposure = then.exposure.or(self.exposure);
        self.least_danger = self.least_danger.max(then.least_danger);
        self.asking = then.asking.or(self.asking);
        self.arguments.extend(then.arguments);
        self
    }

    /// Returns whether the adaptation contains no changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    #[doc(hidden)]
    #[must_use]
    pub fn exposure(&self) -> Option<Exposure> {
        self.exposure
    }

    #[doc(hidden)]
    #[must_use]
    pub fn least_danger(&self) -> Option<Danger> {
        self.least_danger
    }

    #[doc(hidden)]
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.asking.as_deref()
    }

    #[doc(hidden)]
    #[must_use]
    pub fn arguments(&self) -> &[ArgumentChange] {
        &self.arguments
    }
}
