//! A rule: which operations it matches, and how they become tools.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::{Map, Value};
use toolwright::Danger;

use super::pattern;
use crate::operation::FoundOperation;
use crate::request::as_sent;

/// A rule of [`Routes`](crate::Routes). It matches an operation that meets all conditions of the rule; a rule without
/// conditions matches every operation.
///
/// | in TOML | in code | matches an operation |
/// | --- | --- | --- |
/// | `methods = ["GET"]` | `.method("GET")` | with one of these methods |
/// | `path = "/pets/**"` | `.path(…)` | whose path, as in a request, matches: `*` within a segment, `**` across segments |
/// | `tag = "pets"` | `.tag(…)` | that has this tag |
/// | `operation = "list*"` | `.operation(…)` | whose `operationId` matches |
/// | `extension = "x-internal"` | `.extension(…)` | that has this extension with a value other than `false` |
///
/// | in TOML | in code | result |
/// | --- | --- | --- |
/// | `to = "tool"` | [`Route::tool`] | a tool that is listed for models, even if a document has [so many tools](crate::OpenApi) that others are deferred |
/// | `to = "deferred"` | [`Route::deferred`] | a deferred tool, which a model finds by a search |
/// | `to = "hidden"` | [`Route::hidden`] | a tool that only programs call |
/// | `to = "excluded"` | [`Route::excluded`] | no tool |
/// | `name = "list"` | `.rename(…)` | the tool's name; the rule must not apply to more than one operation |
/// | `description = "…"` | `.description(…)` | the description for models, instead of the document's |
/// | `arguments = { owner = "ada" }` | `.preset(…)` | arguments with a fixed value, which a model neither sees nor sets |
/// | `danger = "dangerous"` | `.danger(…)` | the danger of a call, instead of that of the method |
/// | `approval = "it costs money"` | `.approval(…)` | every call needs a person's approval, for this reason |
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[must_use = "a rule does nothing until it is given to `Routes`"]
pub struct Route {
    pub(crate) to: To,
    #[serde(default)]
    methods: Vec<String>,
    path: Option<String>,
    tag: Option<String>,
    operation: Option<String>,
    extension: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    #[serde(default)]
    pub(crate) arguments: Map<String, Value>,
    pub(crate) danger: Option<Danger>,
    pub(crate) approval: Option<String>,
}

/// The kind of tool that an operation becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum To {
    Tool,
    Deferred,
    Hidden,
    Excluded,
}

impl Route {
    /// Makes a rule whose operations become tools that are listed for models, even if the document has more than 40
    /// tools.
    pub fn tool() -> Self {
        Self::to(To::Tool)
    }

    /// Makes a rule whose operations become deferred tools, which a model finds by a search.
    pub fn deferred() -> Self {
        Self::to(To::Deferred)
    }

    /// Makes a rule whose operations become tools that are hidden from models, and that programs call.
    pub fn hidden() -> Self {
        Self::to(To::Hidden)
    }

    /// Makes a rule whose operations do not become tools.
    pub fn excluded() -> Self {
        Self::to(To::Excluded)
    }

    fn to(to: To) -> Self {
        Self {
            to,
            methods: Vec::new(),
            path: None,
            tag: None,
            operation: None,
            extension: None,
            name: None,
            description: None,
            arguments: Map::new(),
            danger: None,
            approval: None,
        }
    }

    /// Matches operations with this method; several calls add alternatives.
    pub fn method(mut self, method: impl Into<String>) -> Self {
        self.methods.push(method.into());
        self
    }

    /// Matches operations whose path matches this pattern.
    pub fn path(mut self, pattern: impl Into<String>) -> Self {
        self.path = Some(pattern.into());
        self
    }

    /// Matches operations that have this tag.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tag = Some(tag.into());
        self
    }

    /// Matches operations whose `operationId` matches this pattern.
    pub fn operation(mut self, pattern: impl Into<String>) -> Self {
        self.operation = Some(pattern.into());
        self
    }

    /// Matches operations that have this extension, such as `x-internal`, with a value other than `false`.
    pub fn extension(mut self, name: impl Into<String>) -> Self {
        self.extension = Some(name.into());
        self
    }

    /// Sets the name of the tool. [`OpenApi::plan`](crate::OpenApi::plan) fails if the rule applies to more than one
    /// operation.
    pub fn rename(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Describes the tools, instead of the document's descriptions.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets an argument to a fixed value. A model neither sees the argument nor can set it.
    pub fn preset(mut self, argument: impl Into<String>, value: impl Into<Value>) -> Self {
        self.arguments.insert(argument.into(), value.into());
        self
    }

    /// Sets the danger of a call, which says how carefully a person should look before the call.
    pub fn danger(mut self, danger: Danger) -> Self {
        self.danger = Some(danger);
        self
    }

    /// Requires a person's approval for every call, for this reason.
    pub fn approval(mut self, reason: impl Into<String>) -> Self {
        self.approval = Some(reason.into());
        self
    }

    pub(crate) fn matches(&self, found: &FoundOperation<'_>) -> bool {
        let is_method = |it: &String| it.eq_ignore_ascii_case(&found.method);
        let is_like = |wanted: &Option<String>, text: Option<&str>| {
            let Some(pattern) = wanted else { return true };
            text.is_some_and(|text| pattern::matches(pattern, text))
        };
        let has_tag = |wanted: &String| found.tags().any(|tag| tag == wanted);
        let has_extension = |wanted: &String| {
            let is_extension = wanted.starts_with("x-");
            is_extension && found.at.value.get(wanted).is_some_and(|it| *it != Value::Bool(false))
        };
        (self.methods.is_empty() || self.methods.iter().any(is_method))
            && self.is_at(found.path)
            && is_like(&self.operation, found.id())
            && self.tag.as_ref().is_none_or(has_tag)
            && self.extension.as_ref().is_none_or(has_extension)
    }

    /// Returns whether the path of a request, with or without its query, matches the path of the rule.
    fn is_at(&self, path: &str) -> bool {
        let Some(pattern) = &self.path else { return true };
        let sent = as_sent(path);
        let bare = sent.split('?').next().unwrap_or_default();
        pattern::matches(pattern, &sent) || pattern::matches(pattern, bare)
    }

    /// Describes the conditions of the rule, for people.
    pub(crate) fn shown(&self) -> String {
        let mut shown = self.methods.join(",");
        for (what, value) in [
            ("path", &self.path),
            ("tag", &self.tag),
            ("operation", &self.operation),
            ("extension", &self.extension),
        ] {
            if let Some(value) = value {
                let _ = write!(shown, " {what} `{value}`");
            }
        }
        match shown.trim() {
            "" => "every operation".to_owned(),
            shown => shown.to_owned(),
        }
    }
}
