//! Names of files, patterns for them, and when a pattern fits a name.
//!
//! - Names are normalised before they are compared: `./`, doubled and trailing slashes go, `..` is resolved. Nothing is
//!   looked up: the tool that opens a file has to follow no link out of a folder.
//! - Relative names begin in the base folder. Where it is not known, a relative name and an absolute pattern may or may
//!   not mean one file: the answer is [`Holds::Unknown`].
//! - What refuses or asks compares without regard to case and to characters that some file systems ignore; what allows
//!   compares exactly.

use regex::Regex;

use super::glob::{SPECIAL, compile, escape};
use super::holds::Holds;
use toolwright_core::footprint::{File, ResourceKind};

/// Where relative names begin.
#[derive(Debug, Clone, Default)]
pub(super) struct Base(pub(super) Option<String>);

/// A name, as it is compared.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Name {
    exact: String,
    folded: String,
    /// Folded letter by letter, where that is something else.
    letters: Option<String>,
    is_absolute: bool,
    /// It is the base folder, or one around it.
    is_around: bool,
}

/// A pattern of a rule.
#[derive(Debug)]
pub(super) struct PathPattern {
    regex: Regex,
    /// For names that are folded letter by letter, where it is another one.
    letters: Option<Regex>,
    anchor: Anchor,
    is_folded: bool,
}

#[derive(Debug)]
enum Anchor {
    /// In any folder.
    Floating,
    /// In this folder and no other.
    In { is_absolute: bool, folder: String },
}

/// A folder of a rule.
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

    /// A name for people: from the base on, where it is in it.
    pub(super) fn show(&self, name: &Name) -> String {
        let inside = self.0.as_deref().and_then(|base| name.exact.strip_prefix(base));
        let inside = inside.and_then(|it| it.strip_prefix('/')).filter(|it| !it.is_empty());
        inside.unwrap_or(&name.exact).to_owned()
    }

    /// The name from the base on.
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
        Ok(PathPattern { regex: compile(&glob)?, letters, anchor, is_folded })
    }

    /// An absolute pattern needs to know where relative names are.
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
    /// Whether a file is one of those that are meant.
    ///
    /// A folder may hold such files. To touch the one in which a pattern begins, or one around it, may be to touch
    /// them; a pattern for any folder is asked so only where the base folder or one around it is `written`.
    pub(super) fn fits(&self, name: &Name, written: bool) -> Holds {
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

    /// `?` is for one letter, also for one like `ß`, which is two where case does not matter.
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
            // `..` from a folder that is known to be inside is outside of it.
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

/// Whether a normalised name is a folder's, or of something in it.
fn is_in(name: &str, folder: &str) -> bool {
    match folder {
        "/" => is_absolute(name),
        "." => !is_absolute(name) && name != ".." && !name.starts_with("../"),
        _ => name.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
    }
}

/// Where a name begins; names that begin elsewhere cannot be compared.
fn start(is_absolute: bool, path: &str) -> (bool, usize) {
    (is_absolute, path.split('/').take_while(|part| *part == "..").count())
}

pub(super) fn is_absolute(path: &str) -> bool {
    let is_drive = |bytes: &[u8]| matches!(bytes, [drive, b':', b'/', ..] | [drive, b':'] if drive.is_ascii_alphabetic());
    path.starts_with('/') || is_drive(path.as_bytes())
}

/// A text for all spellings that some file system takes for one: upper and lower case, characters that are ignored.
/// Each letter by itself, so that the letters around it do not matter: `Σ` is `σ` at the end of a word as well.
fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    // Some letters have another one in between: ẞ, ß, SS, ss.
    let cases =
        |it: char| it.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    text.chars().filter(|it| !is_ignored(*it)).flat_map(cases).collect()
}

/// Folds case character by character, so that `ß` does not become `ss`; `None` where nothing changes.
fn folded_letters(text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    let cases = |it: char| {
        let lower = alone(it.to_lowercase()).unwrap_or(it);
        let upper = alone(lower.to_uppercase()).unwrap_or(lower);
        alone(upper.to_lowercase()).unwrap_or(upper)
    };
    let letters: String = text.chars().filter(|it| !is_ignored(*it)).map(cases).collect();
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
