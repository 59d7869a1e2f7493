//! Determines whether a call that a model sent instead of an input is a call of the expected tool.

use super::words::fold;

/// The separators between a namespace and a tool's name, as in `functions.read_file` or `default_api:read_file`.
const BEFORE_THE_NAME: [char; 3] = ['.', '/', ':'];

/// The name of the expected tool; `None` if it is unknown.
#[derive(Debug, Default)]
pub(super) struct ToolName(Option<KnownName>);

#[derive(Debug)]
struct KnownName {
    name: String,
    plain: String,
}

impl ToolName {
    pub(super) fn of(name: &str) -> Self {
        Self(Some(KnownName { name: name.to_owned(), plain: plain(name) }))
    }

    /// Returns whether a call of `called` may be a call of the expected tool.
    pub(super) fn is(&self, called: &str) -> bool {
        let Some(KnownName { plain: known, .. }) = &self.0 else { return true };
        let called = called.trim();
        let last = called.rsplit(BEFORE_THE_NAME).next().unwrap_or(called);
        [called, last].into_iter().any(|it| plain(it) == *known)
    }

    /// Returns the name of the expected tool; `None` if it is unknown.
    pub(super) fn known(&self) -> Option<&str> {
        self.0.as_ref().map(|it| it.name.as_str())
    }
}

/// Reduces a name to the parts that providers and models do not change: its letters and digits, without their case.
fn plain(name: &str) -> String {
    fold(&name.replace(|letter: char| !letter.is_alphanumeric(), "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_called_by_its_name_in_any_spelling_and_from_any_place() {
        let name = ToolName::of("read_file");
        for called in [
            "read_file",
            "readFile",
            "Read-File",
            "read.file",
            " read_file\n",
            "functions.read_file",
            "default_api:read_file",
            "tools/readFile",
        ] {
            assert!(name.is(called), "{called}");
        }
        for called in ["", "read", "file", "delete_file", "read_file.delete", "my_read_file"] {
            assert!(!name.is(called), "{called}");
        }
        assert!(ToolName::of("files.read").is("files_read"));
        assert!(!ToolName::of("get_v1_1").is("get_v11"));
    }

    #[test]
    fn any_name_is_right_where_none_is_known() {
        assert!(ToolName::default().is("read_file"));
    }
}
