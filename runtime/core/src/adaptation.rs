//! What an application changes of a tool that it did not write, before a model sees it.

use serde_json::Value;

use crate::tool::{Danger, Exposure};

/// What an application changes of a tool that it did not write: one of an MCP server, of an HTTP API, of another crate. Given to
/// `Registration::adapted`, to `Registry::adapt` or to `adapt` of a builder.
///
/// | method | what it changes |
/// | --- | --- |
/// | [`exposed`](Self::exposed) | whether a model is shown the tool |
/// | [`danger_at_least`](Self::danger_at_least) | the least level of danger of its calls |
/// | [`asking`](Self::asking) | each call asks a person, for this reason |
/// | [`preset`](Self::preset) | the value of an argument, which a model then neither sees nor gives |
/// | [`argument_renamed`](Self::argument_renamed) | the name of an argument |
/// | [`argument_described`](Self::argument_described) | what a model reads of an argument |
///
/// Each of them is part of the tool's fingerprint, so that an approval of before a change does not count after it. Changes of
/// arguments are made in their order: a later one names an argument as the earlier ones have left it.
///
/// ```
/// use serde_json::json;
/// use toolwright::{Adaptation, Call, DynamicTool, Executor, Registry};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// // As another crate would bring it.
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
#[derive(Debug, Clone, PartialEq)]
pub enum ArgumentChange {
    Preset { argument: String, value: Value },
    Renamed { from: String, to: String },
    Described { argument: String, text: String },
}

impl Adaptation {
    /// Changes nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether a model is shown the tool: listed, found by a search, or called by programs alone.
    pub fn exposed(mut self, exposure: Exposure) -> Self {
        self.exposure = Some(exposure);
        self
    }

    /// Raises the danger of each call to at least this level. What the tool says beyond it counts.
    pub fn danger_at_least(mut self, danger: Danger) -> Self {
        self.least_danger = self.least_danger.max(Some(danger));
        self
    }

    /// Asks a person about each call, for this reason. A reason of the tool's own is added to it.
    pub fn asking(mut self, reason: impl Into<String>) -> Self {
        self.asking = Some(reason.into());
        self
    }

    /// Gives an argument a value. A model neither sees the argument nor can give it, as it can give no unknown key; policy, journal
    /// and approvers see the value among the final arguments. A value that the argument's schema refuses is an error where the tool is
    /// registered.
    pub fn preset(mut self, argument: impl Into<String>, value: impl Into<Value>) -> Self {
        let (argument, value) = (argument.into(), value.into());
        self.arguments.push(ArgumentChange::Preset { argument, value });
        self
    }

    /// Renames an argument for models, policy and approvers. The tool gets it under its own name.
    pub fn argument_renamed(mut self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.arguments.push(ArgumentChange::Renamed { from: from.into(), to: to.into() });
        self
    }

    /// Replaces what models read of an argument.
    pub fn argument_described(
        mut self,
        argument: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        let (argument, text) = (argument.into(), text.into());
        self.arguments.push(ArgumentChange::Described { argument, text });
        self
    }

    /// Makes the changes of another adaptation after these.
    pub fn and(mut self, then: Self) -> Self {
        self.exposure = then.exposure.or(self.exposure);
        self.least_danger = self.least_danger.max(then.least_danger);
        self.asking = then.asking.or(self.asking);
        self.arguments.extend(then.arguments);
        self
    }

    /// Reports whether it changes nothing.
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
