//! Parses the lines of a patch that name files: those of git, with quoting, and those of `diff -u`; pure.

use super::FilePatch;

/// The values of the header lines before the first hunk of a file.
#[derive(Debug, Default)]
pub(super) struct Headers {
    /// The text after `diff --git`, if the patch has this line.
    pub(super) git: Option<String>,
    /// The texts after `---` and `+++`, if the patch has these lines.
    pub(super) old: Option<String>,
    pub(super) new: Option<String>,
    /// The texts after `rename from` and `rename to`, or after `copy from` and `copy to`.
    pub(super) from: Option<String>,
    pub(super) to: Option<String>,
    pub(super) is_copy: bool,
    /// The texts after `similarity index` and `index`.
    pub(super) similarity: Option<String>,
    pub(super) index: Option<String>,
    pub(super) old_mode: Option<String>,
    pub(super) new_mode: Option<String>,
    pub(super) is_new: bool,
    pub(super) is_deleted: bool,
    /// Whether the last header is at the end of the patch and has no line end, so that the patch may be truncated.
    pub(super) is_open: bool,
}

impl Headers {
    /// Parses one line. Returns whether the line is a header that git writes between `diff --git` and the first hunk.
    pub(super) fn take(&mut self, line: &str) -> bool {
        let rest = |start: &str| line.strip_prefix(start).map(str::to_owned);
        if let Some(mode) = rest("new file mode ") {
            (self.is_new, self.new_mode) = (true, Some(mode));
        } else if let Some(mode) = rest("deleted file mode ") {
            (self.is_deleted, self.old_mode) = (true, Some(mode));
        } else if let Some(mode) = rest("new mode ") {
            self.new_mode = Some(mode);
        } else if let Some(mode) = rest("old mode ") {
            self.old_mode = Some(mode);
        } else if let Some(similarity) = rest("similarity index ") {
            self.similarity = Some(similarity);
        } else if let Some(index) = rest("index ") {
            self.index = Some(index);
        } else if let Some(name) = rest("rename from ") {
            self.from = Some(unquote(&name));
        } else if let Some(name) = rest("rename to ") {
            self.to = Some(unquote(&name));
        } else if let Some(name) = rest("copy from ") {
            (self.from, self.is_copy) = (Some(unquote(&name)), true);
        } else if let Some(name) = rest("copy to ") {
            (self.to, self.is_copy) = (Some(unquote(&name)), true);
        } else {
            return line.starts_with("dissimilarity index ");
        }
        true
    }

    /// Makes the file patch that the headers describe, or returns their problem.
    pub(super) fn file(self, has_hunks: bool) -> Result<FilePatch, String> {
        if let Some(what) = self.needs_hunks().filter(|_| !has_hunks) {
            return Err(format!("{what}, and no hunk follows: the patch may be cut short"));
        }
        let is_mode = |it: &str| it.len() == 6 && it.bytes().all(|it| matches!(it, b'0'..=b'7'));
        if let Some(mode) = self.old_mode.as_deref().filter(|mode| !is_mode(mode.trim())) {
            return Err(format!("has the old mode `{mode}`, expected one such as 100644"));
        }
        let program = match self.new_mode.as_deref().map(str::trim) {
            None => None,
            Some("100755") => Some(true),
            Some("100644" | "100664") => Some(false),
            Some("120000") => return Err("makes a link, which no tool does".to_owned()),
            Some(mode) => {
                return Err(format!("gives the mode {mode}, expected 100644 or 100755"));
            }
        };
        // A new file is not executable anyway, unless the patch says so.
        let program = program.filter(|is_program| *is_program || !self.is_new);
        let by_git = self.git.as_deref().and_then(name_of_git);
        let (mut old, mut new) = match (self.old, self.new) {
            (Some(old), Some(new)) => {
                let (old, new) = without_prefixes(read_name(&old), read_name(&new));
                match (self.git.is_some(), old, new) {
                    // `diff -u x.orig x` changes one file. As git does, take the second name, or the first name if the
                    // second begins with it.
                    (false, Some(old), Some(new)) => {
                        let name = if new.starts_with(&old) { old } else { new };
                        (Some(name.clone()), Some(name))
                    }
                    (_, old, new) => (old, new),
                }
            }
            (None, None) => match (self.from.clone(), self.to.clone()) {
                (Some(from), Some(to)) => (Some(from), Some(to)),
                _ => {
                    let name = by_git.ok_or("names no file")?;
                    let of = |is_absent: bool| (!is_absent).then(|| name.clone());
                    (of(self.is_new), of(self.is_deleted))
                }
            },
            (Some(_), None) => return Err("has `---` without `+++`".to_owned()),
            (None, Some(_)) => return Err("has `+++` without `---`".to_owned()),
        };
        if self.is_new && old.is_some() || self.is_deleted && new.is_some() {
            let (mode, line) = match self.is_new {
                true => ("new", "---"),
                false => ("deleted", "+++"),
            };
            return Err(format!(
                "has `{mode} file mode`, and a name after `{line}`, expected `/dev/null`"
            ));
        }
        if let (Some(from), Some(to)) = (self.from, self.to) {
            for (line, name, other) in [("---", &from, &old), ("+++", &to, &new)] {
                if other.as_ref() != Some(name) {
                    let other = other.as_deref().unwrap_or("/dev/null");
                    return Err(format!(
                        "is renamed or copied: `{line}` names `{other}`, expected `{name}`"
                    ));
                }
            }
            // A quoted name cannot be compared with the names on other lines.
            let git = self.git.as_deref().map(str::trim_end).filter(|it| !it.contains('"'));
            let is_whole = |git: &str| {
                git.strip_suffix(to.as_str()).is_some_and(|it| it.ends_with([' ', '/']))
            };
            if let Some(git) = git.filter(|it| !is_whole(it)) {
                let line = if self.is_copy { "copy to" } else { "rename to" };
                return Err(format!(
                    "`{line}` names `{to}`, which is not at the end of `diff --git {git}`: the patch may be cut short"
                ));
            }
            (old, new) = (Some(from), Some(to));
        }
        if old.is_none() && new.is_none() {
            return Err("has `/dev/null` on both sides, and names no file".to_owned());
        }
        let (is_copy, deletes_unseen, hunks) = (self.is_copy, false, Vec::new());
        Ok(FilePatch { old, new, is_copy, deletes_unseen, program, hunks })
    }

    /// Returns the reason why these headers need hunks; `None` if they are a complete change by themselves.
    fn needs_hunks(&self) -> Option<String> {
        if let Some(similarity) = self.similarity.as_deref().filter(|it| it.trim() != "100%") {
            return Some(format!("is like another one in {}", similarity.trim()));
        }
        if self.index.as_deref().is_some_and(|index| !is_of_empty(index)) {
            return Some("gets another content, by its `index` line".to_owned());
        }
        if self.is_new && self.is_open {
            return Some("is created, but its last line has no end".to_owned());
        }
        let is_moved = self.from.is_some() && self.to.is_some();
        let gets_mode = self.old_mode.is_some() && self.new_mode.is_some();
        match self.old.is_some() {
            _ if is_moved => None,
            true => Some("is named by `---` and `+++`".to_owned()),
            false if gets_mode || self.is_new || self.is_deleted => None,
            false => Some("is named but not changed".to_owned()),
        }
    }
}

/// Returns whether both hashes of an `index` line stand for a missing or an empty file.
fn is_of_empty(index: &str) -> bool {
    const EMPTY: [&str; 2] = [
        "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
        "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
    ];
    let hashes = index.split_whitespace().next().unwrap_or_default();
    hashes.split("..").all(|hash| {
        hash.bytes().all(|it| it == b'0') || EMPTY.iter().any(|empty| empty.starts_with(hash))
    })
}

/// Parses the name after `---` or `+++`; `None` for `/dev/null`. A tab ends the name, and a date may follow.
fn read_name(text: &str) -> Option<String> {
    let name = match text.starts_with('"') {
        true => unquote(text),
        false => text.split('\t').next().unwrap_or_default().to_owned(),
    };
    (name != "/dev/null").then_some(name)
}

/// The prefixes `a/` and `b/`, which git adds to names and which are not folders. A reverted patch swaps them.
const PREFIXES: [[&str; 2]; 2] = [["a/", "b/"], ["b/", "a/"]];

fn without_prefixes(old: Option<String>, new: Option<String>) -> (Option<String>, Option<String>) {
    let has = |name: &Option<String>, prefix| name.as_ref().is_none_or(|it| it.starts_with(prefix));
    if !PREFIXES.iter().any(|[one, two]| has(&old, *one) && has(&new, *two)) {
        return (old, new);
    }
    let rest = |name: Option<String>| name.map(|it| it[2..].to_owned());
    (rest(old), rest(new))
}

/// Returns the name after `diff --git`, where it occurs twice. This is needed only if no other line has the name.
fn name_of_git(text: &str) -> Option<String> {
    let (old, new) = match text.starts_with('"') {
        true => {
            let end = text[1..].find("\" ")? + 2;
            (unquote(&text[..end]), unquote(text[end..].trim_start()))
        }
        false => {
            // Both halves of a text such as `a/x b/x` have the same length.
            let (old, new) = text.split_at_checked(text.len() / 2)?;
            (old.to_owned(), new.strip_prefix(' ')?.to_owned())
        }
    };
    PREFIXES.iter().find_map(|[one, two]| {
        let (old, new) = (old.strip_prefix(one)?, new.strip_prefix(two)?);
        (old == new).then(|| old.to_owned())
    })
}

/// Removes the quotes and escapes that git adds to names with unusual characters.
fn unquote(text: &str) -> String {
    let text = text.trim_end();
    let Some(inner) = text.strip_prefix('"').and_then(|it| it.strip_suffix('"')) else {
        return text.to_owned();
    };
    let (mut bytes, mut rest) = (Vec::with_capacity(inner.len()), inner.bytes().peekable());
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(digit) = rest.next_if(|it| matches!(it, b'0'..=b'7')) {
                        value = value * 8 + u32::from(digit - b'0');
                    }
                }
                bytes.push(value.to_le_bytes()[0]);
            }
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(b'a') => bytes.push(7),
            Some(b'b') => bytes.push(8),
            Some(b'f') => bytes.push(12),
            Some(b'v') => bytes.push(11),
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
