//! Edits a file of any kind by lines. Each edit is parsed before it is written, so that an invalid edit leaves the file
//! unchanged.

use std::collections::BTreeMap;

use serde_json::json;
use sha2::{Digest as _, Sha256};
use toolwright::{ErrorClass, ToolError};
use toolwright_toolbox::{LinePatch, patched_lines, write_file};

use crate::document::front_matter;
use crate::kinds::{Kind, Others, Task};
use crate::library::Library;

/// The maximum size of a file, in bytes.
const LARGEST: usize = 1 << 20;

/// What was edited.
#[toolwright::data]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// How many patches were applied.
    pub applied: usize,
    /// The whole file now.
    pub content: String,
    /// Its hash, for the next edit.
    pub hash: String,
}

/// Edits the file of kind `K` with this name.
///
/// # Errors
/// When the edit is refused. The details have the present content, if the file could be read, and `applied: 0`.
pub fn edit<K: Kind>(
    library: &Library,
    name: &str,
    patches: &[LinePatch],
    expected_hash: Option<&str>,
) -> Result<Edited, ToolError> {
    let name = checked::<K>(name)?;
    let path = path_of::<K>(&name);
    library.alone(|| {
        let before = read(library, &path)?;
        edited::<K>(library, &name, &before, patches, expected_hash)
            .and_then(|content| {
                // The hash detects an editor that ignores our lock: the file has to be unchanged since it was read.
                let hash = Some(hash(&before));
                write_file(library.files(), path.clone(), content.clone(), hash)?;
                Ok(content)
            })
            .map(|content| Edited { applied: patches.len(), hash: hash(&content), content })
            .map_err(|error| error.details(json!({"applied": 0, "content": before})))
    })
}

/// Applies the patches, and checks that the text is valid for its kind.
fn edited<K: Kind>(
    library: &Library,
    name: &str,
    before: &str,
    patches: &[LinePatch],
    expected_hash: Option<&str>,
) -> Result<String, ToolError> {
    let now = hash(before);
    if let Some(expected) = expected_hash
        && !expected.eq_ignore_ascii_case(&now)
    {
        let message = format!("`{name}` has hash {now}, expected {expected}: it was changed since");
        return Err(ToolError::new("file_changed", message)
            .hint("look at the content that comes with this error, and edit that"));
    }
    let invalid = |when: &str, problem: String| {
        let message = format!("`{name}` {when}: {problem}");
        ToolError::new(K::INVALID, message).class(ErrorClass::Invalid)
    };
    let is = front_matter::<K>(before)
        .map_err(|problem| invalid("cannot be edited as it is", problem))?;
    is.may_be_edited(name)?;
    let content = patched_lines(before, patches)?;
    let becomes = front_matter::<K>(&content)
        .map_err(|problem| invalid("would be broken, so nothing was written", problem))?;
    becomes.accept(&is, name, &Beside { library, name })?;
    Ok(content)
}

/// Returns the path that an edit reads and writes, which its tool declares. For an invalid name nothing is read or
/// written, and the path is that of the folder.
pub fn file_of<K: Kind>(name: &str) -> String {
    checked::<K>(name).map_or_else(|_| K::FOLDER.to_owned(), |name| path_of::<K>(&name))
}

/// Returns the path of the file that has this name. The name has to be valid.
fn path_of<K: Kind>(name: &str) -> String {
    format!("{}/{name}.md", K::FOLDER)
}

/// Checks that a name has only letters, digits, `-` and `_`, so that no path leads out of the folder.
fn checked<K: Kind>(name: &str) -> Result<String, ToolError> {
    let name = name.strip_suffix(".md").unwrap_or(name);
    let name = if K::LOWER_CASE { name.to_ascii_lowercase() } else { name.to_owned() };
    let fits = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_');
    if !name.is_empty() && name.len() <= 100 && name.chars().all(fits) {
        return Ok(name);
    }
    let shown: String = name.chars().take(100).flat_map(char::escape_debug).collect();
    let message =
        format!("`{shown}` is not a name, expected up to 100 letters, digits, `-` and `_`");
    Err(ToolError::new("invalid_name", message).class(ErrorClass::Invalid))
}

/// Reads a file as text. A file that is not UTF-8 is an error, because it could not be written back unchanged.
fn read(library: &Library, path: &str) -> Result<String, ToolError> {
    let bytes = library.files().read(path)?;
    if bytes.len() > LARGEST {
        let message = format!("`{path}` has {} bytes, expected at most {LARGEST}", bytes.len());
        return Err(ToolError::new("file_too_large", message).class(ErrorClass::Invalid));
    }
    String::from_utf8(bytes).map_err(|_| {
        ToolError::new("not_utf8", format!("`{path}` is not text in UTF-8"))
            .class(ErrorClass::Invalid)
    })
}

fn hash(text: &str) -> String {
    hex::encode(&Sha256::digest(text)[..8])
}

/// Reads the other files of the kind, when they are needed.
struct Beside<'l> {
    library: &'l Library,
    name: &'l str,
}

impl Others for Beside<'_> {
    fn tasks(&self) -> BTreeMap<String, Task> {
        let names = self.library.names(Task::FOLDER).into_iter();
        let others = names.filter(|name| name != self.name).filter_map(|name| {
            let text = read(self.library, &format!("{}/{name}.md", Task::FOLDER)).ok()?;
            Some((name, front_matter(&text).ok()?))
        });
        others.collect()
    }
}
