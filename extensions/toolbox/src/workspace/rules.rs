//! Ignore rules: the rules of a folder, and which rule applies if several folders have some; pure.

use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The ignore rules of a folder, which apply to the entries below it.
#[derive(Debug, Default)]
pub(crate) struct OfFolder {
    /// The rules of `.ignore`.
    pub(crate) ignore: Option<Gitignore>,
    /// The rules of `.gitignore`.
    pub(crate) git: Option<Gitignore>,
    /// The rules of `.git/info/exclude`.
    pub(crate) exclude: Option<Gitignore>,
    /// Whether a repository begins here, so that git's rules of the folders above it do not apply.
    pub(crate) is_repository: bool,
}

impl OfFolder {
    pub(crate) fn is_empty(&self) -> bool {
        let Self { ignore, git, exclude, is_repository } = self;
        ignore.is_none() && git.is_none() && exclude.is_none() && !is_repository
    }
}

/// Parses a file of rules for the entries below this folder. Like git, skips lines that are not valid patterns.
pub(crate) fn rules_of(folder: &Path, text: &str) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(folder);
    builder.allow_unclosed_class(false);
    for line in text.trim_start_matches('\u{feff}').lines() {
        let _ = builder.add_line(None, &with_literal_braces(line));
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}

/// Whether the rules ignore this path. `folders` are the rules of the folders above it, innermost first. For each kind of file,
/// the innermost folder with a rule for the path decides; `.ignore` takes precedence over `.gitignore`, and that over
/// `exclude`.
pub(crate) fn ignores<'r>(
    folders: impl Iterator<Item = &'r OfFolder>,
    path: &Path,
    is_folder: bool,
) -> bool {
    let [mut ignore, mut git, mut exclude] = [const { None::<bool> }; 3];
    let mut is_of_git = true;
    let said = |rules: &Option<Gitignore>| match rules.as_ref()?.matched(path, is_folder) {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    };
    for folder in folders {
        ignore = ignore.or_else(|| said(&folder.ignore));
        if is_of_git {
            git = git.or_else(|| said(&folder.git));
            exclude = exclude.or_else(|| said(&folder.exclude));
        }
        is_of_git &= !folder.is_repository;
    }
    ignore.or(git).or(exclude).unwrap_or(false)
}

/// Escapes each brace in a line: git has no alternatives in braces, but the library does.
fn with_literal_braces(line: &str) -> String {
    let (mut escaped, mut rest) = (String::with_capacity(line.len()), line);
    while let Some(next) = rest.chars().next() {
        let taken = match next {
            '\\' => next.len_utf8() + rest[1..].chars().next().map_or(0, char::len_utf8),
            '[' => class(rest),
            _ => next.len_utf8(),
        };
        if matches!(next, '{' | '}') {
            escaped.push('\\');
        }
        escaped.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    escaped
}

/// Returns the length of a character class such as `[!a-z]`, in which braces are literal; for an unclosed bracket, its
/// own length.
fn class(text: &str) -> usize {
    let start = if text[1..].starts_with(['!', '^']) { 2 } else { 1 };
    // A closing bracket that comes first is one of the characters in the class.
    let first = text[start..].chars().next().map_or(0, char::len_utf8);
    text[start + first..].find(']').map_or(1, |end| start + first + end + 1)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{OfFolder, ignores, rules_of, with_literal_braces};

    #[test]
    fn braces_are_literal_but_in_classes_and_after_backslashes() {
        for (line, escaped) in [
            ("*.{log,tmp}", r"*.\{log,tmp\}"),
            (r"\{a}", r"\{a\}"),
            ("[{]x{", r"[{]x\{"),
            ("[]{]{", r"[]{]\{"),
            ("[!]{]{", r"[!]{]\{"),
            ("[{", r"[\{"),
            ("ü{[", r"ü\{["),
            ("\\", "\\"),
        ] {
            assert_eq!(with_literal_braces(line), escaped, "{line}");
        }
    }

    #[test]
    fn the_innermost_rule_of_the_first_kind_counts() {
        let rules = |folder: &str, text: &str| rules_of(Path::new(folder), text);
        let top = OfFolder {
            git: rules("/", "*.log\n"),
            exclude: rules("/", "*.tmp"),
            ..OfFolder::default()
        };
        let sub = OfFolder { git: rules("/sub", "!a.log\n!a.tmp"), ..OfFolder::default() };
        let own =
            OfFolder { ignore: rules("/sub", "a.log"), is_repository: true, ..OfFolder::default() };
        let ignored = |folders: &[&OfFolder], name: &str| {
            ignores(folders.iter().copied(), Path::new(name), false)
        };
        assert!(ignored(&[&top], "/sub/a.log") && !ignored(&[&sub, &top], "/sub/a.log"));
        assert!(ignored(&[&sub, &top], "/sub/b.log") && !ignored(&[&sub, &top], "/sub/a.tmp"));
        let anchored =
            OfFolder { git: rules("/srv", "/top\nsub/*.tmp\n/build/"), ..OfFolder::default() };
        for (name, is_ignored) in [
            ("/srv/top", true),
            ("/srv/a/top", false),
            ("/srv/sub/a.tmp", true),
            ("/srv/a/sub/a.tmp", false),
        ] {
            assert_eq!(ignored(&[&anchored], name), is_ignored, "{name}");
        }
        // A repository below has rules of its own.
        assert!(ignored(&[&own, &top], "/sub/a.log") && !ignored(&[&own, &top], "/sub/b.log"));
    }
}
