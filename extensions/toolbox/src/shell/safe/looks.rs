//! Checks of the folder's state, which the text of a line cannot show: settings and file names. They are made when a
//! safe line runs.

use serde::Deserialize;

use super::arguments::{Kind, ParsedArguments, Word};
use super::forms::{Form, Takes};
use super::places::Folders;
use super::{Prover, Result};
use crate::shell::paths;
use crate::shell::secrets::{Wildcards, may_be_secret};

/// A condition that has to be met before a safe line runs. Folders and files are relative to the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Look {
    /// No setting in the folder names a program that the line would run.
    Settings { of: Settings, folder: String },
    /// No file that the program would read below the folder may hold secrets. `flags` are the program's flags that
    /// exclude files, each with its value.
    Tree { walk: Walk, folder: String, start: Start, flags: Vec<(String, String)> },
    /// No file name that the pattern matches looks like a flag. If the files are read, none may hold secrets.
    Pattern { folder: String, pattern: String, is_read: bool },
}

/// The place where the listing of files begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Start {
    File(String),
    /// The files that a pattern matches. Bash replaces the pattern with their names.
    Pattern(String),
}

/// The settings that may name programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Settings {
    /// The settings of a git repository and of its submodules.
    Git,
    /// The settings that select the release of a language, for version managers such as rustup, pyenv and asdf.
    Toolchain,
}

/// Which files a program reads below a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Walk {
    /// All files, without following links.
    Find,
    /// All files, including those behind links.
    Links,
    /// The files that ripgrep reads.
    Ripgrep,
}

/// Returns whether a pattern that may match secrets matches hardly any other files, such as `.en*`, `*.pem` and
/// `.ssh/*`. It does if one of its names has a wildcard, but not as the first character, or if it still indicates
/// secrets with a letter in place of each wildcard.
fn is_of_secrets(word: &Word<'_>, folders: &Folders) -> bool {
    let is_open = |part: &str| !part.contains(['*', '?']) || part.starts_with(['*', '?']);
    let some = word.text.replace(['*', '?'], "x");
    !word.text.split('/').all(is_open)
        || folders.all().any(|it| may_be_secret(&paths::join(it, &some), Wildcards::None))
}

impl Prover<'_, '_> {
    fn add_look(&mut self, look: Look) {
        if !self.looks.contains(&look) {
            self.looks.push(look);
        }
    }

    pub(super) fn settings(&mut self, of: Settings, folders: &Folders) {
        for folder in folders.all() {
            self.add_look(Look::Settings { of, folder: folder.to_owned() });
        }
    }

    /// Adds a check of the files that a pattern matches. Returns `false` if they cannot be checked.
    pub(super) fn look_at_pattern(
        &mut self,
        word: &Word<'_>,
        folders: &Folders,
        is_read: bool,
    ) -> bool {
        if !self.is_lookable(word, folders) || is_read && is_of_secrets(word, folders) {
            return false;
        }
        for folder in folders.all() {
            let (folder, pattern) = (folder.to_owned(), word.text.to_string());
            self.add_look(Look::Pattern { folder, pattern, is_read });
        }
        true
    }

    /// Returns whether the check of a pattern finds the same files as the line will. In a loop over file names, the
    /// shell expands the pattern in the folder in which the loop begins.
    fn is_lookable(&self, word: &Word<'_>, folders: &Folders) -> bool {
        let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"_./*?-".contains(&it);
        word.kind == Kind::Pattern
            && word.text.bytes().all(is_plain)
            && self.looped.as_ref().is_none_or(|it| it == folders)
    }

    /// Adds checks of the files that a program reads below its folders.
    pub(super) fn look_at_trees<'a>(
        &mut self,
        form: &Form,
        name: &Word<'a>,
        given: &[(&str, Option<String>)],
        parsed: &ParsedArguments<'_, 'a>,
        skipped: usize,
    ) -> Result<()> {
        let Some(walk) = form.walk else { return Ok(()) };
        let has = |flags: &[Box<str>]| {
            given.iter().any(|(it, _)| flags.iter().any(|flag| **flag == **it))
        };
        let takes = |kind: Takes| given.iter().any(|(it, _)| form.flag(it) == Some(kind));
        let is_listing = takes(Takes::NoScript);
        // Every `--include` pattern was checked to match only files without secrets, and the program reads no other
        // files.
        let is_narrow = walk == Walk::Find && takes(Takes::Include);
        if is_listing || is_narrow || !(form.recursive.is_empty() || has(&form.recursive)) {
            return Ok(());
        }
        let skips = given.iter().filter(|(it, _)| form.skips.iter().any(|skip| **skip == **it));
        let mut flags: Vec<(String, String)> = Vec::new();
        for (flag, value) in skips {
            match value {
                Some(value) => flags.push(((*flag).to_owned(), value.clone())),
                None if walk == Walk::Ripgrep => {
                    return Err(name.doubt(format!("has `{flag}` with a value that is not known")));
                }
                None => {}
            }
        }
        let is_whole_read = walk == Walk::Find && !flags.iter().any(|(_, it)| it == ".git");
        let whole = "the whole folder, in which it would read every file: name a folder below, `--include` or `--exclude-dir=.git`";
        let files = parsed.places.get(skipped..).unwrap_or_default();
        if files.is_empty() && walk != Walk::Links {
            if is_whole_read {
                return Err(name.doubt(format!("goes through {whole}")));
            }
            self.tree(walk, &parsed.folders, &Start::File(".".to_owned()), &flags);
        }
        for file in files.iter().filter(|it| it.text != "-" || it.kind != Kind::Literal) {
            let start = match file.kind {
                Kind::Literal if is_whole_read && parsed.folders.is_root(&file.text) => {
                    return Err(file.doubt(format!("is {whole}")));
                }
                Kind::Literal => Start::File(file.text.to_string()),
                _ if self.is_lookable(file, &parsed.folders) => {
                    Start::Pattern(file.text.to_string())
                }
                _ => return Err(file.doubt("may be a folder in which every file would be read")),
            };
            self.tree(walk, &parsed.folders, &start, &flags);
        }
        Ok(())
    }

    fn tree(&mut self, walk: Walk, folders: &Folders, start: &Start, flags: &[(String, String)]) {
        for folder in folders.all() {
            let (folder, start, flags) = (folder.to_owned(), start.clone(), flags.to_vec());
            self.add_look(Look::Tree { walk, folder, start, flags });
        }
    }
}
