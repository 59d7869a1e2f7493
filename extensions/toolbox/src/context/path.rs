//! Logical paths, which name stored texts. They are not paths of files, so none can lead out of a folder. Pure.

use std::fmt;

use toolwright::{ResourceKind, ToolError};

/// The longest logical path, in characters.
const LONGEST: usize = 1024;

/// The name of an entry of a [`ContextStore`](crate::ContextStore), such as `notes/today.md`. Tools use the type to
/// declare what they touch: `reads(LogicalPath = path)`. The path `notes` contains every path that begins with
/// `notes/`.
///
/// ```
/// use toolwright::ResourceKind;
/// use toolwright_toolbox::LogicalPath;
///
/// assert_eq!(LogicalPath::normalise("notes/"), "notes");
/// assert!(LogicalPath::overlap("notes", "notes/today.md"));
/// assert!(!LogicalPath::overlap("notes", "notes.md"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogicalPath(String);

impl LogicalPath {
    /// Parses a logical path, and refuses an invalid one. Characters are not normalized: two spellings of one letter
    /// make two paths.
    pub(super) fn parse(text: &str) -> Result<Self, ToolError> {
        let path = Self::normalise(text);
        let has_control = || path.chars().any(char::is_control);
        let problem = if path.is_empty() {
            "it is empty"
        } else if path.chars().count() > LONGEST {
            "it has more than 1,024 characters"
        } else if path.starts_with('/') {
            "it begins with `/`"
        } else if path.contains('\\') {
            "it has a `\\`"
        } else if has_control() {
            "it has a control character"
        } else if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
            "a part of it is empty, `.` or `..`"
        } else if path.split('/').any(|part| part.trim() != part) {
            "a part of it begins or ends with a blank"
        } else {
            return Ok(Self(path));
        };
        let shown: String = text.chars().take(100).flat_map(char::escape_debug).collect();
        Err(ToolError::new("invalid_path", format!("`{shown}` is not a logical path: {problem}"))
            .class(toolwright::ErrorClass::Invalid)
            .hint("name it as in `notes/today.md`"))
    }

    /// Parses the folder to which a search or a list is limited; `None`, which means no limit, if it is absent, empty,
    /// `.` or `/`.
    pub(super) fn parse_folder(text: Option<&str>) -> Result<Option<Self>, ToolError> {
        Self::folder(text).map(Self::parse).transpose()
    }

    /// Returns the folder to which a search or a list is limited, for footprints; `None`, which means every entry, under the
    /// conditions of [`parse_folder`](Self::parse_folder).
    pub(super) fn folder(text: Option<&str>) -> Option<&str> {
        text.filter(|it| !matches!(*it, "" | "." | "/"))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LogicalPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl ResourceKind for LogicalPath {
    const LABEL: &'static str = "entry";

    fn normalise(name: &str) -> String {
        name.strip_suffix('/').unwrap_or(name).to_owned()
    }

    fn overlap(container: &str, contained: &str) -> bool {
        contained.strip_prefix(container).is_some_and(|rest| rest.starts_with('/'))
    }

    fn containers(name: &str) -> Option<Vec<&str>> {
        Some(name.match_indices('/').map(|(at, _)| &name[..at]).collect())
    }
}
