//! Names of files, patterns for them, and whether a pattern matches a name.
//!
//! - Names are normalised before they are compared: `./` and doubled or trailing slashes are removed, `..` is resolved.
//!   The file system is not consulted, so links are not resolved. A tool must not follow a link out of its folder when
//!   it opens a file.
//! - Relative names are relative to the base folder. If that is unknown, a relative name and an absolute pattern may or
//!   may not mean the same file, so the answer is [`Holds::Unknown`].
//! - Rules that deny or ask ignore case, the composition of accents, and characters that some file systems ignore. Rules
//!   that allow compare exactly.

use regex::Regex;
use unicode_normalization::UnicodeNormalization as _;

use super::braces::expand;
use super::glob::{SPECIAL, compile, escape};
use super::holds::Holds;
use toolwright_core::footprint::{File, ResourceKind};

/// The folder to which relative names are relative.
#[derive(Debug, Clone, Default)]
pub(super) struct Base(pub(super) Option<String>);

/// A name, prepared for comparison.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Name {
    exact: String,
    folded: String,
    /// The name with the case of each letter folded separately; `None` if it equals `folded`.
    letters: Option<String>,
    is_absolute: bool,
    /// Whether the name is the base folder itself or a folder that contains the base folder.
    is_around: bool,
}

/// A pattern of a rule. A file matches if it matches one of the alternatives that the braces of the pattern list.
#[derive(Debug)]
pub(super) struct PathPattern(Vec<Alternative>);

/// A pattern without braces.
#[derive(Debug)]
struct Alternative {
    regex: Regex,
    /// The pattern for names whose case is folded letter by letter; `None` if it equals `regex`.
    letters: Option<Regex>,
    anchor: Anchor,
    is_folded: bool,
}

#[derive(Debug)]
enum Anchor {
    /// The pattern matches in any folder.
    Floating,
    /// The pattern matches only names in this folder.
    In { is_absolute: bool, folder: String },
}

/// A folder that a rule names.
#[derive(Debug)]
pub(super) struct Folder {
    path: String,
    is_absolute: bool,
    is_folded: bool,
}

impl Base {
    pub(super) fn name(&self, written: &str) -> Name {
        let exact = self.whole(&File::normalise(written));
        let (folded, letters) = (fold(&exact), folded_letters(&exact));
        let is_absolute = is_absolute(&exact);
        let is_around = match &self.0 {
            Some(base) => is_in(&fold(base), &folded),
            None => exact == "/" || exact == "." || exact.split('/').all(|part| part == ".."),
        };
        Name { exact, folded, letters, is_absolute, is_around }
    }

    /// Returns the name for people. A name inside of the base folder is relative to that folder.
    pub(super) fn show(&self, name: &Name) -> String {
        let inside = self.0.as_deref().and_then(|base| name.exact.strip_prefix(base));
        let inside = inside.and_then(|it| it.strip_prefix('/')).filter(|it| !it.is_empty());
        inside.unwrap_or(&name.exact).to_owned()
    }

    /// Returns the absolute form of a name, if the base folder is known.
    pub(super) fn whole(&self, normalised: &str) -> String {
        match &self.0 {
            Some(base) if !is_absolute(normalised) => {
                File::normalise(&format!("{base}/{normalised}"))
            }
            _ => normalised.to_owned(),
        }
    }

    pub(super) fn folder(&self, written: &str, is_folded: bool) -> Result<Folder, String> {
        if written.is_empty() {
            return Err(
                "a folder is empty; write `.` for the folder where relative names begin".to_owned()
            );
        }
        home(written)?;
        let path = self.whole(&File::normalise(written));
        self.check_base(written, &path)?;
        let is_absolute = is_absolute(&path);
        Ok(Folder { path: if is_folded { fold(&path) } else { path }, is_absolute, is_folded })
    }

    pub(super) fn pattern(&self, written: &str, is_folded: bool) -> Result<PathPattern, String> {
        let alternatives = expand(written)?;
        let compiled = alternatives.iter().map(|it| self.alternative(it, is_folded));
        let compiled = compiled.collect::<Result<_, _>>();
        compiled.map(PathPattern).map_err(|error| match alternatives.len() {
            1 => error,
            _ => format!("{error} (an alternative of `{written}`)"),
        })
    }

    fn alternative(&self, written: &str, is_folded: bool) -> Result<Alternative, String> {
        home(written)?;
        let pattern = match written.ends_with('/') {
            true => format!("{written}**"),
            false => written.to_owned(),
        };
        let inner = pattern.strip_prefix("./").unwrap_or(&pattern);
        if inner.is_empty() || inner.split('/').any(|part| part == ".") {
            return Err(format!(
                "`{written}` is no pattern for files: expected one such as `*.pem`, `src/**` or `**/.git/**`"
            ));
        }
        if pattern.split('/').skip(1).any(str::is_empty) {
            return Err(format!(
                "the pattern `{written}` has nothing between two slashes, which no name has: write one slash"
            ));
        }
        if inner.split('/').skip_while(|part| *part == "..").any(|part| part == "..") {
            return Err(format!(
                "the pattern `{written}` has `..` inside, which no name has: write it without"
            ));
        }
        let (anchor, glob) = if !pattern.contains('/') {
            (Anchor::Floating, format!("**/{pattern}"))
        } else if pattern.starts_with("**/") {
            (Anchor::Floating, pattern)
        } else {
            let literal: Vec<&str> =
                inner.split('/').take_while(|part| !part.contains(SPECIAL)).collect();
            let rest = inner.split('/').skip(literal.len()).collect::<Vec<_>>().join("/");
            let literal = match (literal.join("/"), inner.starts_with('/')) {
                (literal, true) if literal.is_empty() => "/".to_owned(),
                (literal, _) => literal,
            };
            let folder = self.whole(&File::normalise(&literal));
            self.check_base(written, &folder)?;
            let start = match folder.as_str() {
                "." => String::new(),
                "/" => "/".to_owned(),
                other => format!("{}/", escape(other)),
            };
            let glob = match rest.is_empty() {
                true => start.trim_end_matches('/').to_owned(),
                false => format!("{start}{rest}"),
            };
            let is_absolute = is_absolute(&folder);
            let folder = if is_folded { fold(&folder) } else { folder };
            (Anchor::In { is_absolute, folder }, glob)
        };
        let letters = folded_letters(&glob).filter(|_| is_folded);
        let letters = letters.map(|it| compile(&it)).transpose()?;
        let glob = if is_folded { fold(&glob) } else { glob };
        Ok(Alternative { regex: compile(&glob)?, letters, anchor, is_folded })
    }

    /// Checks that the base folder is known, if the pattern is absolute.
    fn check_base(&self, written: &str, path: &str) -> Result<(), String> {
        match &self.0 {
            None if is_absolute(path) => Err(format!(
                "`{written}` is absolute, and the folder where relative names begin is not known: give it \
                 (`PolicyBuilder::base`)"
            )),
            _ => Ok(()),
        }
    }
}

impl PathPattern {
    /// Whether a file matches.
    ///
    /// A call that touches a folder may touch matching files inside it. So the answer is unknown for the folder of a
    /// pattern and for folders around it. For a pattern without a folder, the answer is unknown only if the call writes
    /// the base folder or a folder around it.
    pub(super) fn fits(&self, name: &Name, written: bool) -> Holds {
        Holds::any(self.0.iter().map(|it| it.fits(name, written)))
    }
}

impl Alternative {
    fn fits(&self, name: &Name, written: bool) -> Holds {
        let text = name.text(self.is_folded);
        if let Anchor::In { is_absolute, folder } = &self.anchor
            && start(*is_absolute, folder) != start(name.is_absolute, text)
        {
            return Holds::Unknown;
        }
        if self.regex.is_match(text) || (self.is_folded && self.fits_letters(name)) {
            return Holds::Yes;
        }
        let unknown = match &self.anchor {
            Anchor::Floating => written && name.is_around,
            Anchor::In { folder, .. } => is_in(folder, text),
        };
        if unknown { Holds::Unknown } else { Holds::No }
    }

    /// Matches names letter by letter, so that `?` matches also a letter such as `ß`, which case folding turns into
    /// two letters.
    fn fits_letters(&self, name: &Name) -> bool {
        let regex = self.letters.as_ref().unwrap_or(&self.regex);
        match &name.letters {
            Some(letters) => regex.is_match(letters),
            None => self.letters.is_some() && regex.is_match(&name.folded),
        }
    }
}

impl Folder {
    pub(super) fn holds(&self, name: &Name) -> Holds {
        let text = name.text(self.is_folded);
        if is_in(text, &self.path) {
            return Holds::Yes;
        }
        match start(self.is_absolute, &self.path) == start(name.is_absolute, text) {
            true => Holds::No,
            // A name that leads out of the base folder by `..` is not in the base folder.
            false if !self.is_absolute && !name.is_absolute && self.path == "." => Holds::No,
            false => Holds::Unknown,
        }
    }
}

impl Name {
    fn text(&self, is_folded: bool) -> &str {
        if is_folded { &self.folded } else { &self.exact }
    }
}

/// Whether a normalised name is the name of a folder, or of something inside the folder.
fn is_in(name: &str, folder: &str) -> bool {
    match folder {
        "/" => is_absolute(name),
        "." => !is_absolute(name) && name != ".." && !name.starts_with("../"),
        _ => name.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
    }
}

/// Returns the starting point of a name. Names with different starting points cannot be compared.
fn start(is_absolute: bool, path: &str) -> (bool, usize) {
    (is_absolute, path.split('/').take_while(|part| *part == "..").count())
}

pub(super) fn is_absolute(path: &str) -> bool {
    let is_drive = |bytes: &[u8]| matches!(bytes, [drive, b':', b'/', ..] | [drive, b':'] if drive.is_ascii_alphabetic());
    path.starts_with('/') || is_drive(path.as_bytes())
}

/// Maps names that differ only in case, in the composition of accents, or in characters that some file systems ignore,
/// to one text. Each letter is
/// folded by itself, whatever its neighbours are: `Σ` becomes `σ` even at the end of a word.
fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    // Letters such as ẞ, ß, SS and ss become equal only after three case conversions.
    let cases =
        |it: char| it.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    composed(text).flat_map(cases).collect()
}

/// Returns the characters of a text without the ignored ones. A letter with an accent is one character, because some
/// file systems do not distinguish it from the letter followed by the accent.
fn composed(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|it| !is_ignored(*it)).nfc()
}

/// Folds the case of each letter separately, so that `ß` does not become `ss`; `None` if nothing changes.
fn folded_letters(text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    let cases = |it: char| {
        let lower = alone(it.to_lowercase()).unwrap_or(it);
        let upper = alone(lower.to_uppercase()).unwrap_or(lower);
        alone(upper.to_lowercase()).unwrap_or(upper)
    };
    let letters: String = composed(text).map(cases).collect();
    (letters != fold(text)).then_some(letters)
}

fn alone(mut letters: impl Iterator<Item = char>) -> Option<char> {
    letters.next().filter(|_| letters.next().is_none())
}

fn is_ignored(it: char) -> bool {
    matches!(it, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

fn home(written: &str) -> Result<(), String> {
    match written == "~" || written.starts_with("~/") {
        true => Err(format!(
            "`{written}` begins with `~`, which is not expanded: write the folder out, or `**/` for any"
        )),
        false => Ok(()),
    }
}
