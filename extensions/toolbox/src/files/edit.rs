//! Code that the tools which change files share: read the file, compare its hash, write it back in its encoding, and
//! answer with a short diff.

use toolwright::{ErrorClass, ToolError};

use super::diff;
use super::notes::count;
use crate::Workspace;
use crate::workspace::{
    After, Before, Change, LARGEST, Name, Text, content_hash, decode, is_expected,
};

/// A text file that a tool is about to change.
pub(super) struct Edit {
    pub(super) name: Name,
    /// The present content of the file.
    bytes: Vec<u8>,
    pub(super) now: Text,
}

impl Edit {
    /// Reads the file, and refuses it if its hash is not the expected one.
    pub(super) fn open(
        workspace: &Workspace,
        path: &str,
        expected_hash: Option<&str>,
    ) -> Result<Self, ToolError> {
        let name = Name::parse(path)?;
        let bytes = workspace.read_named(&name)?;
        is_expected(&name, Some(&bytes), expected_hash)?;
        Self::of(name, bytes)
    }

    /// Makes the edit of a file that has this content.
    pub(super) fn of(name: Name, bytes: Vec<u8>) -> Result<Self, ToolError> {
        let now = decode(&name, &bytes)?;
        Ok(Self { name, bytes, now })
    }

    /// Returns whether the file has this hash.
    pub(super) fn has_hash(&self, expected: &str) -> bool {
        is_expected(&self.name, Some(&self.bytes), Some(expected)).is_ok()
    }

    /// Returns whether the file would have this hash if its content were `text`.
    pub(super) fn would_have_hash(&self, text: &str, expected: &str) -> bool {
        let content = encode(&self.name, &self.now, text);
        content.is_ok_and(|it| is_expected(&self.name, Some(&it), Some(expected)).is_ok())
    }

    /// Writes the new text, if the file still has the content that was read. The answer has `done`, the new hash and a
    /// diff.
    pub(super) fn write(
        &self,
        workspace: &Workspace,
        text: &str,
        done: &str,
    ) -> Result<String, ToolError> {
        let content = encode(&self.name, &self.now, text)?;
        // No tool could read or edit a larger file again.
        if content.len() as u64 > LARGEST {
            return Err(grows_too_large(&self.name, content.len() as u64));
        }
        let done = format!("{done}{}", other_names(workspace.hard_links(&self.name)?));
        let (before, after) = (Before::Content(&self.bytes), After::Content(&content));
        workspace.change(&[Change { name: &self.name, before, after }])?;
        Ok(answer(&done, &content, &diff::between(&self.now.text, text, diff::IN_AN_ANSWER)))
    }

    /// Returns the diff that a person sees before they approve the change.
    pub(super) fn preview(&self, text: &str) -> String {
        show_diff(&self.name, &diff::between(&self.now.text, text, diff::IN_A_PREVIEW))
    }
}

/// Encodes a text in the encoding of the file that it replaces.
pub(super) fn encode(name: &Name, now: &Text, text: &str) -> Result<Vec<u8>, ToolError> {
    now.encoding.encode(text).map_err(|other| {
        let encoding = now.encoding.described().unwrap_or_default();
        let message = format!(
            "`{name}` is written in {encoding}, which has no `{other}` (U+{:04X})",
            u32::from(other)
        );
        ToolError::new("not_encodable", message)
            .class(ErrorClass::Invalid)
            .hint("write the file whole with `write_file`, which makes it UTF-8")
    })
}

/// Makes the error for an edit after which a file would have `size` bytes.
pub(super) fn grows_too_large(name: &Name, size: u64) -> ToolError {
    let message =
        format!("`{name}` would have {size} bytes after the edit, expected at most {LARGEST}");
    ToolError::new("file_too_large", message).class(ErrorClass::Invalid)
}

/// Makes the note that a replaced file has other hard links, which do not change.
pub(super) fn other_names(links: usize) -> String {
    match links {
        0 => String::new(),
        links => {
            let links = count(links, "other name", "other names");
            format!("; {links} of the file (hard links) still have the old content")
        }
    }
}

/// Combines the description `done`, the hash of the new content, and the diff.
pub(super) fn answer(done: &str, content: &[u8], diff: &str) -> String {
    let hash = content_hash(content);
    match diff {
        "" => format!("{done}; hash {hash}"),
        diff => format!("{done}; hash {hash}\n{diff}"),
    }
}

/// Formats a diff with the name of its file.
pub(super) fn show_diff(name: &Name, diff: &str) -> String {
    match diff {
        "" => format!("`{name}` stays as it is"),
        diff => format!("`{name}`\n{diff}"),
    }
}

/// Adds the file's name to an error about its text.
pub(super) fn of_file(name: &Name, error: ToolError) -> ToolError {
    let named = ToolError::new(error.kind().to_owned(), format!("`{name}`: {}", error.message()));
    let named = named.class(error.classified());
    match error.next_action() {
        Some(hint) => named.hint(hint.to_owned()),
        None => named,
    }
}
