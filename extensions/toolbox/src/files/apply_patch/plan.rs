//! Applies a patch to the present contents of the files in memory, before anything is written.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use toolwright::{ErrorClass, ToolError};

use super::ExpectedHash;
use crate::Workspace;
use crate::files::edit::encode;
use crate::files::notes::Demand;
use crate::files::patch::{FilePatch, Kind, apply, read};
use crate::workspace::{After, Before, Change, Encoding, MARK, Name, Text, decode, is_expected};

/// The most problems that an error lists.
const REPORTED: usize = 20;

/// The results for all files of a patch, ready to be written.
pub(super) struct Plan {
    pub(super) files: Vec<File>,
}

/// The result for one file.
pub(super) struct File {
    pub(super) old: Option<Name>,
    pub(super) new: Option<Name>,
    pub(super) is_copy: bool,
    program: Option<bool>,
    before: Option<Vec<u8>>,
    /// The content to write under the new name; `None` if the file is deleted.
    pub(super) after: Option<Vec<u8>>,
    /// The text before and after the patch, if lines change.
    pub(super) texts: Option<(String, String)>,
    /// The numbers of added and removed lines.
    pub(super) counts: (usize, usize),
    /// The number of other hard links to the old file, which do not change.
    pub(super) links: usize,
}

impl Plan {
    pub(super) fn new(
        workspace: &Workspace,
        patch: &str,
        expected: &[ExpectedHash],
        wanted: &Demand<'_>,
    ) -> Result<Self, ToolError> {
        let patches = read(patch).map_err(|problems| refused("invalid_patch", &problems))?;
        let plan = Self::of(workspace, &patches, wanted)?;
        for ExpectedHash { path, hash } in expected {
            let name = Name::parse(path)?;
            let file = plan.files.iter().find(|it| it.old.as_ref() == Some(&name));
            let is_new = plan.files.iter().any(|it| it.new.as_ref() == Some(&name));
            match file {
                Some(file) => is_expected(&name, file.before.as_deref(), Some(hash))?,
                None if is_new => is_expected(&name, None, Some(hash))?,
                None => {
                    let message =
                        format!("`{name}` has an expected hash, and the patch does not name it");
                    return Err(ToolError::invalid(message));
                }
            }
        }
        Ok(plan)
    }

    fn of(
        workspace: &Workspace,
        patches: &[FilePatch],
        wanted: &Demand<'_>,
    ) -> Result<Self, ToolError> {
        let (mut files, mut problems, mut seen) =
            (Vec::new(), Vec::new(), HashSet::<PathBuf>::new());
        for patch in patches {
            let parsed = |path: &Option<String>| path.as_deref().map(Name::parse).transpose();
            let (old, new) = (parsed(&patch.old)?, parsed(&patch.new)?);
            let mut names: Vec<&Name> = old.iter().chain(&new).collect();
            names.dedup();
            for name in names {
                // Resolve the names, since two names may refer to the same file.
                if !seen.insert(real_name(workspace, name)) {
                    problems.push(format!("`{name}` is named twice"));
                }
            }
            let file = File::new(workspace, patch, old, new, wanted);
            wanted.still()?;
            match file {
                Ok(file) => files.push(file),
                Err(Problem::Patch(found)) => problems.extend(found),
                Err(Problem::File(error)) if patches.len() == 1 => return Err(error),
                Err(Problem::File(error)) => problems.push(error.message().to_owned()),
            }
        }
        match problems.is_empty() {
            true => Ok(Self { files }),
            false => Err(refused("patch_does_not_fit", &problems)),
        }
    }

    /// Returns the changes that are to be written together.
    pub(super) fn changes(&self) -> Vec<Change<'_>> {
        let mut changes = Vec::new();
        for file in &self.files {
            let (old, new) = (file.old.as_ref(), file.new.as_ref());
            let is_moved = old != new;
            if let (Some(new), Some(content)) = (new, &file.after) {
                let before = match &file.before {
                    Some(before) if !is_moved => Before::Content(before),
                    _ => Before::Missing,
                };
                let of = old.filter(|_| is_moved);
                let after = After::WithMode { content, of, program: file.program };
                changes.push(Change { name: new, before, after });
            }
            if let (Some(old), Some(before)) = (old, &file.before)
                && is_moved
                && !file.is_copy
            {
                let before = Before::Content(before);
                changes.push(Change { name: old, before, after: After::Removed });
            }
        }
        changes
    }
}

/// Returns the real name of a file. If there is no such file, resolves the nearest folder above it that exists.
fn real_name(workspace: &Workspace, name: &Name) -> PathBuf {
    let path = Path::new(name.as_str());
    let resolved = path.ancestors().find_map(|above| {
        let real = workspace.real_name(&Name::parse(above.to_str()?).ok()?)?;
        let below = path.strip_prefix(above).ok()?;
        Some(if below.as_os_str().is_empty() { real } else { real.join(below) })
    });
    resolved.unwrap_or_else(|| path.to_owned())
}

/// Returns whether a patch can be applied to the files in their present state.
pub(super) fn is_possible(workspace: &Workspace, patches: &[FilePatch]) -> bool {
    Plan::of(workspace, patches, &Demand::always()).is_ok()
}

/// The reason why a file cannot be changed.
enum Problem {
    /// The patch is invalid, or does not fit the content.
    Patch(Vec<String>),
    /// The file cannot be read.
    File(ToolError),
}

impl From<ToolError> for Problem {
    fn from(error: ToolError) -> Self {
        Self::File(error)
    }
}

impl File {
    fn new(
        workspace: &Workspace,
        patch: &FilePatch,
        old: Option<Name>,
        new: Option<Name>,
        wanted: &Demand<'_>,
    ) -> Result<Self, Problem> {
        let wrong = |what: String| Err(Problem::Patch(vec![what]));
        let before = old.as_ref().map(|old| workspace.read_named(old)).transpose()?;
        if let Some(new) = new.as_ref().filter(|new| old.as_ref() != Some(new))
            && workspace.exists(new.as_str())?
        {
            return wrong(format!("`{new}` is there already, expected no file"));
        }
        let count = |kind| {
            let lines = patch.hunks.iter().flat_map(|hunk| &hunk.lines);
            lines.filter(|line| line.kind == kind).count()
        };
        let counts = (count(Kind::Added), count(Kind::Removed));
        let links = match (&old, &new, patch.is_copy) {
            (Some(old), Some(_), false) if !patch.hunks.is_empty() => workspace.hard_links(old)?,
            _ => 0,
        };
        let mut file = Self {
            old,
            new,
            is_copy: patch.is_copy,
            program: patch.program,
            before,
            after: None,
            texts: None,
            counts,
            links,
        };
        let Some(name) = file.new.as_ref().or(file.old.as_ref()) else {
            return wrong("a file has no name".to_owned());
        };
        if patch.hunks.is_empty() {
            // A file that is only renamed, or whose mode changes, need not be text.
            if file.old == file.new && file.program.is_none() {
                return wrong(format!("nothing of `{name}` is changed, expected a hunk"));
            }
            if file.new.is_none()
                && !patch.deletes_unseen
                && file.before.as_ref().is_some_and(|it| !it.is_empty())
            {
                return wrong(format!(
                    "`{name}` is deleted, and the patch does not have its lines"
                ));
            }
            file.after = file.new.is_some().then(|| file.before.clone().unwrap_or_default());
            return Ok(file);
        }
        let utf8 = Encoding::Utf8 { mark: false };
        let mut now = match (&file.old, &file.before) {
            (Some(old), Some(before)) => decode(old, before)?,
            _ => Text { text: String::new(), encoding: utf8 },
        };
        // git includes the byte order mark in the first line, and `read_file` leaves it out.
        if now.encoding == (Encoding::Utf8 { mark: true }) && patch.shows_mark() {
            now = Text { text: format!("{MARK}{}", now.text), encoding: utf8 };
        }
        let text = apply(&now.text, patch, &|| wanted.still().is_ok()).map_err(|problems| {
            Problem::Patch(problems.iter().map(|problem| format!("`{name}`: {problem}")).collect())
        })?;
        if file.new.is_some() {
            file.after = Some(encode(name, &now, &text)?);
        } else if !text.is_empty() {
            let lines = text.lines().count();
            return wrong(format!(
                "`{name}` is deleted, and has {lines} lines that the patch does not have"
            ));
        }
        file.texts = Some((now.text, text));
        Ok(file)
    }
}

/// Makes one error that lists all problems.
fn refused(kind: &'static str, problems: &[String]) -> ToolError {
    let more = match problems.len().saturating_sub(REPORTED) {
        0 => String::new(),
        more => format!("; and {more} more problems"),
    };
    let shown = problems.iter().take(REPORTED).cloned().collect::<Vec<_>>().join("; ");
    ToolError::new(kind, format!("{shown}{more}; nothing was written")).class(ErrorClass::Invalid).hint(
        match kind {
            "invalid_patch" => "write a unified diff as `git diff` does, to its end; without line numbers, write `@@ ... @@`",
            _ => "read the files again, and write the patch for what they contain now",
        },
    )
}
