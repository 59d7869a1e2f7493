//! A path that consists only of names below the workspace. Pure.

use std::fmt;
use std::path::{Component, Path};

use toolwright::{ErrorClass, ToolError};

/// The maximum length of a path in bytes, as in Linux.
const LONGEST: usize = 4096;

/// A normalized relative path: parts separated by `/`, without `.` and `..`. The workspace itself is `.`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name(String);

impl Name {
    pub(crate) fn parse(path: &str) -> Result<Self, ToolError> {
        let invalid = |message: String| {
            ToolError::invalid(message)
                .hint("write a path relative to the workspace, such as `src/lib.rs`")
        };
        if path.trim().is_empty() {
            return Err(invalid("the path is empty; the workspace itself is `.`".to_owned()));
        }
        if path.len() > LONGEST {
            let size = path.len();
            return Err(invalid(format!("the path has {size} bytes, expected at most {LONGEST}")));
        }
        if path.contains('\0') {
            let shown = path.escape_debug();
            return Err(invalid(format!("`{shown}` contains a NUL character, which no path can")));
        }
        let mut parts = Vec::new();
        for component in Path::new(path).components() {
            match component {
                Component::Normal(part) => parts.push(part.to_string_lossy()),
                Component::CurDir => {}
                Component::ParentDir => return Err(outside(path, "contains `..`")),
                Component::RootDir | Component::Prefix(_) => {
                    return Err(outside(path, "is an absolute path"));
                }
            }
        }
        Ok(Self(if parts.is_empty() { ".".to_owned() } else { parts.join("/") }))
    }

    /// Returns the name of the workspace itself.
    #[cfg(feature = "files")]
    pub(crate) fn root() -> Self {
        Self(".".to_owned())
    }

    /// Returns the name of an entry below this folder, by its relative path.
    #[cfg(feature = "files")]
    pub(crate) fn below(&self, relative: &str) -> Self {
        match (self.0.as_str(), relative) {
            (_, "") => self.clone(),
            (".", relative) => Self(relative.to_owned()),
            (folder, relative) => Self(format!("{folder}/{relative}")),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Makes the error for a path that leads out of the workspace.
pub(crate) fn outside(path: &str, why: &str) -> ToolError {
    let message = format!("`{path}` {why}, expected a path inside the workspace");
    ToolError::new("outside_workspace", message)
        .class(ErrorClass::Invalid)
        .hint("write a path relative to the workspace, such as `src/lib.rs`, without `..`")
}

impl AsRef<Path> for Name {
    fn as_ref(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
