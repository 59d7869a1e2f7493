//! The final arguments of a call. The tool runs with these arguments, the policy evaluates them, and approvers see them
//! with secrets masked.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::filling::fill;
use toolwright_core::json::tree::{Node, push_segment};
use toolwright_core::json::{ArgumentsError, canonical_of, read};
use toolwright_core::tool::Definition;

/// The text that replaces the value of a secret. It shows neither the value nor its length or type.
const SECRET: &str = "(secret)";

/// The final arguments of a call: repaired, and with the defaults of the tool's schema filled in.
///
/// Values that the model sent keep their spelling, even the digits of numbers. The defaults do not change what the tool
/// reads, because the tool would use the same defaults.
///
/// ```
/// use toolwright::unstable::arguments::FinalArguments;
/// use toolwright::{Registry, tool};
///
/// /// Lends a book.
/// #[tool]
/// async fn lend(
///     /// Its title.
///     title: String,
///     /// The reader's card.
///     #[arg(secret)]
///     card: String,
///     /// How many.
///     #[arg(default = 1)]
///     copies: u8,
/// ) {
/// }
///
/// let registry = Registry::of([LEND])?;
/// let definition = registry.get("lend").expect("registered");
/// let final_arguments = FinalArguments::of(&definition, r#"{"title": "Emma", "card": "4711"}"#)?;
/// assert_eq!(final_arguments.arguments(), r#"{"title":"Emma","card":"4711","copies":1}"#);
/// assert_eq!(final_arguments.canonical(), r#"{"card":"4711","copies":1,"title":"Emma"}"#);
/// assert_eq!(final_arguments.shown(), r#"{"title":"Emma","card":"(secret)","copies":1}"#);
/// assert!(final_arguments.has_secrets());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct FinalArguments {
    arguments: String,
    canonical: String,
    /// The arguments in the form that people see; `None` if this form equals `arguments`.
    shown: Option<String>,
    tree: Arc<Node>,
}

impl FinalArguments {
    /// Makes final arguments from a text that the tool's strict reader has accepted. That reader accepts no aliases of
    /// parameters, so none have to be resolved here.
    ///
    /// # Errors
    /// When the strict reader would refuse the text, or the defaults of the schema are endless, too many or too deeply
    /// nested.
    pub fn of(definition: &Definition, accepted: &str) -> Result<Self, ArgumentsError> {
        Self::with_filled(definition, accepted, Vec::new())
    }

    /// Makes final arguments as [`of`](Self::of) does, and adds values for absent keys: the values that the tool
    /// computed, and the presets.
    #[doc(hidden)]
    pub fn with_filled(
        definition: &Definition,
        accepted: &str,
        filled: Vec<(String, Value)>,
    ) -> Result<Self, ArgumentsError> {
        let is_secret = |key: &str| definition.secrets().any(|it| it == key);
        let mut node = read(accepted).map_err(|error| outside_of_secrets(error, is_secret))?;
        let found = match node {
            Node::Object(_) => None,
            Node::Array(_) => Some("an array"),
            Node::Text(_) => Some("a text"),
            Node::Number(_) => Some("a number"),
            Node::Bool(_) => Some("a boolean"),
            Node::Null => Some("null"),
        };
        if let Some(found) = found {
            return Err(ArgumentsError::NoObject { found });
        }
        if let Node::Object(entries) = &mut node {
            for (key, value) in filled {
                if !entries.iter().any(|(given, _)| *given == key) {
                    entries.push((key, Node::of(&value)));
                }
            }
        }
        fill(&mut node, definition.final_schema())?;
        let (arguments, canonical) = (node.text(), canonical_of(&node));
        let shown = without_secrets(&node, is_secret).map(|it| it.text());
        Ok(Self { arguments, canonical, shown, tree: Arc::new(node) })
    }

    /// Returns the final arguments as a parsed value.
    #[doc(hidden)]
    #[must_use]
    pub fn tree(&self) -> &Node {
        &self.tree
    }

    /// Returns the arguments that run, as text.
    #[must_use]
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    /// Returns the arguments in canonical form, for the digest.
    #[must_use]
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// Returns the arguments for people: `"(secret)"` replaces the value of each secret parameter.
    #[must_use]
    pub fn shown(&self) -> &str {
        self.shown.as_deref().unwrap_or(&self.arguments)
    }

    /// Reports whether the arguments contain a value of a secret parameter.
    #[must_use]
    pub fn has_secrets(&self) -> bool {
        self.shown.is_some()
    }
}

/// Omits the arguments, because they may contain secrets.
impl fmt::Debug for FinalArguments {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_secrets = self.has_secrets();
        formatter
            .debug_struct("FinalArguments")
            .field("has_secrets", &has_secrets)
            .finish_non_exhaustive()
    }
}

/// Masks the values of these secret parameters in a recorded call's arguments. Returns `None` if the text is not JSON
/// as an executor records it.
#[doc(hidden)]
#[must_use]
pub fn shown_of(arguments: &str, secrets: &[String]) -> Option<String> {
    let node = read(arguments).ok()?;
    let is_secret = |key: &str| secrets.iter().any(|it| it == key);
    Some(without_secrets(&node, is_secret).map_or_else(|| node.text(), |shown| shown.text()))
}

/// Replaces the value of each secret by `"(secret)"`; `None` if there is no secret among the arguments.
fn without_secrets(node: &Node, is_secret: impl Fn(&str) -> bool) -> Option<Node> {
    let Node::Object(entries) = node else { return None };
    if !entries.iter().any(|(key, _)| is_secret(key)) {
        return None;
    }
    let entries = entries.iter().map(|(key, value)| match is_secret(key) {
        true => (key.clone(), Node::Text(SECRET.to_owned())),
        false => (key.clone(), value.clone()),
    });
    Some(Node::Object(entries.collect()))
}

/// Shortens the pointer in an error, so that it names no key inside of a secret.
fn outside_of_secrets(error: ArgumentsError, is_secret: impl Fn(&str) -> bool) -> ArgumentsError {
    let ArgumentsError::Duplicate { pointer } = error else { return error };
    let first = pointer.split('/').nth(1).unwrap_or_default();
    let key = toolwright_core::json::pointer::unescape(first);
    if !is_secret(&key) {
        return ArgumentsError::Duplicate { pointer };
    }
    let mut pointer = String::new();
    push_segment(&mut pointer, &key);
    ArgumentsError::Duplicate { pointer }
}
