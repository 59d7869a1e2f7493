//! Rules that decide whether and how operations become tools. The first rule that matches an operation applies.

mod pattern;
mod route;

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::operation::FoundOperation;

pub use route::Route;
pub(crate) use route::To;

/// Rules over the operations of a document. The first rule that matches an operation applies to it. An operation that
/// no rule matches becomes a tool. A rule that applies to no operation is an error, because it is probably a mistake.
///
/// ```
/// use toolwright_openapi::{Route, Routes};
///
/// let by_code = Routes::new()
///     .route(Route::tool().method("GET").path("/pets/**"))
///     .route(Route::excluded());
/// let by_file = Routes::from_toml(
///     r#"
///     [[route]]
///     methods = ["GET"]
///     path = "/pets/**"
///     to = "tool"
///
///     [[route]]
///     to = "excluded"
///     "#,
/// )?;
/// assert_eq!(by_code, by_file);
/// # Ok::<(), toolwright_openapi::RouteError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Routes {
    #[serde(default, rename = "route")]
    pub(crate) routes: Vec<Route>,
}

/// The reason why the rules cannot be used.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RouteError {
    /// The file cannot be read.
    #[error("{} cannot be read: {source}", file.display())]
    File {
        /// The path of the file.
        file: PathBuf,
        /// The error of the file system.
        source: std::io::Error,
    },
    /// The text does not contain valid rules.
    #[error("the routes cannot be read: {why}")]
    Syntax {
        /// The error, and its place in the text.
        why: String,
    },
    /// A rule applies to no operation.
    #[error("rule {number} ({rule}) counts for no operation: {why}; correct it or leave it out")]
    Unused {
        /// The number of the rule, from 1 on.
        number: usize,
        /// The conditions of the rule.
        rule: String,
        /// The reason why the rule applies to no operation.
        why: &'static str,
    },
    /// A rule gives the same name to several operations.
    #[error(
        "rule {number} names {count} operations `{name}`, expected one, {operations} among them; make it match one"
    )]
    Renames {
        /// The number of the rule, from 1 on.
        number: usize,
        /// The name that the rule gives.
        name: String,
        /// How many operations the rule applies to.
        count: usize,
        /// The titles of some of these operations.
        operations: String,
    },
    /// A rule sets an argument that an operation does not have.
    #[error(
        "rule {number} gives `{argument}` a value, which {operation} does not take; it takes `{takes}`"
    )]
    Argument {
        /// The number of the rule, from 1 on.
        number: usize,
        /// The argument that the rule sets.
        argument: String,
        /// The title of the operation.
        operation: String,
        /// The arguments that the operation has.
        takes: String,
    },
}
toolwright::unstable::debug_as_sentence!(RouteError);

impl Routes {
    /// Makes an empty list of rules, with which every operation becomes a tool.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule after the earlier ones.
    #[must_use]
    pub fn route(mut self, route: Route) -> Self {
        self.routes.push(route);
        self
    }

    /// Reads rules in TOML: a table `[[route]]` for each.
    ///
    /// # Errors
    /// When the text is not TOML of this form.
    pub fn from_toml(text: &str) -> Result<Self, RouteError> {
        toml::from_str(text).map_err(|error| RouteError::Syntax { why: error.to_string() })
    }

    /// Reads rules from a TOML file.
    ///
    /// # Errors
    /// When the file cannot be read, or is not TOML of this form.
    pub fn read(file: impl AsRef<Path>) -> Result<Self, RouteError> {
        let file = file.as_ref();
        let text = std::fs::read_to_string(file)
            .map_err(|source| RouteError::File { file: file.to_owned(), source })?;
        Self::from_toml(&text)
    }

    /// Returns the index of the rule that applies to an operation; `None` if no rule does.
    pub(crate) fn of(&self, found: &FoundOperation<'_>) -> Option<usize> {
        self.routes.iter().position(|it| it.matches(found))
    }
}
