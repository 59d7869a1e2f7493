//! Checks whether a word is valid for its purpose: a file, a revision, a format, a script.

use super::arguments::{Kind, Word};
use super::forms::{Check, Form, Takes};
use super::places::Folders;
use super::{Prover, Result, scripts};
use crate::shell::paths;
use crate::shell::secrets::{Wildcards, may_be_secret};

impl<'a> Prover<'a, '_> {
    /// Checks a word by the type of value that the program expects.
    pub(super) fn look(
        &mut self,
        form: &Form,
        takes: Takes,
        word: &Word<'a>,
        folders: &Folders,
    ) -> Result<()> {
        if word.kind == Kind::Any {
            return Err(word.doubt("gives arguments that are not known"));
        }
        let text: &str = &word.text;
        match takes {
            Takes::Nothing | Takes::Optional | Takes::NoScript => {}
            Takes::Text | Takes::Texts => {
                // A pattern may expand to any text, even a flag. That is acceptable only if all flags of the program
                // are harmless, or if the text has a `=`, as in `--include=*.rs`.
                if word.kind != Kind::Literal && !form.plain && !text.contains('=') {
                    return Err(word.doubt("is in a place where its text has to be known"));
                }
            }
            Takes::File | Takes::Name => {
                let is_pattern = word.kind == Kind::Pattern;
                if form.check == Some(Check::Archive) && (is_pattern || text.contains(':')) {
                    return Err(word.doubt("may be a file of another machine"));
                }
                if text != "-" || word.kind != Kind::Literal {
                    self.file(word, folders, takes == Takes::File)?;
                }
            }
            Takes::Script => self.script(form.check, word)?,
            Takes::Include => {
                let is_left_out = text.starts_with('!');
                if !is_left_out
                    && (text.is_empty()
                        || text.contains(['{', '\\'])
                        || may_be_secret(text, Wildcards::All))
                {
                    return Err(word.doubt("may fit the name of a file that holds secrets"));
                }
            }
            Takes::Language => {
                const LANGUAGES: &[&str] = &[
                    "rust", "py", "python", "js", "ts", "go", "c", "cpp", "java", "md", "markdown",
                    "toml", "html", "css", "ruby", "php", "swift", "kotlin", "lua", "sql", "json",
                    "yaml", "make",
                ];
                if !LANGUAGES.contains(&word.literal()?) {
                    return Err(word.doubt("is a kind of files that is not known"));
                }
            }
            Takes::Folder => {
                folders.change_to(word)?;
            }
            Takes::Format => {
                if word.literal()?.contains("%G")
                    || text.contains("signature")
                    || text.contains("!")
                {
                    return Err(
                        word.doubt("is a format that may check a signature, which runs gpg")
                    );
                }
            }
            Takes::Setting => {
                const PLAIN: [&str; 10] = [
                    "user.", "core.", "branch.", "init.", "color.", "diff.", "merge.", "pull.",
                    "push.", "commit.",
                ];
                let name = word.literal()?.to_ascii_lowercase();
                if !PLAIN.iter().any(|it| name.starts_with(it)) {
                    return Err(word.doubt("is a setting that may hold secrets"));
                }
            }
            Takes::Revision => revision(word, folders)?,
            Takes::Topic => {
                let topic = word.literal()?;
                if topic.contains('/') || topic.starts_with(['.', '~', '@']) {
                    return Err(word.doubt("may name a file"));
                }
            }
            Takes::Printf => {
                if !is_plain_format(word.literal()?) {
                    return Err(word.doubt("is a format that may set a variable"));
                }
            }
            Takes::Columns => {
                if word.literal()?.contains("env") {
                    return Err(word.doubt("shows the environment of processes"));
                }
            }
            Takes::Plus => {
                if !word.literal()?.starts_with('+') {
                    return Err(word.doubt("is in a place where no argument is known"));
                }
            }
        }
        Ok(())
    }

    fn script(&self, check: Option<Check>, word: &Word<'a>) -> Result<()> {
        let text = word.literal()?;
        let (is_plain, what) = match check {
            Some(Check::Sed) => (scripts::is_plain_sed(text), "sed"),
            Some(Check::Awk) => (scripts::is_plain_awk(text), "awk"),
            Some(Check::Jq) => (scripts::is_plain_jq(text), "jq"),
            Some(Check::Ps) => (is_plain_ps(text), "ps"),
            _ => (true, ""),
        };
        match is_plain {
            true => Ok(()),
            false => Err(word.doubt(format!("is a script of {what} that may do more than print"))),
        }
    }
}

/// Checks a commit, a path, or a path in a commit, such as `HEAD:src/a.rs`. Given a path outside of the repository, git
/// would read any file.
fn revision(word: &Word<'_>, folders: &Folders) -> Result<()> {
    let path = word.literal()?.rsplit([':', ')']).next().unwrap_or_default();
    if path.starts_with(['/', '~']) || path.split('/').any(|it| it == "..") {
        return Err(word.doubt("may lie outside of the folder"));
    }
    // A pattern such as `*.rs` means files in the repository.
    let is_open = path.starts_with(['*', '?', '[']) || path.contains("/*");
    for base in folders.all() {
        if !is_open && may_be_secret(&paths::join(base, path), Wildcards::Doubtful) {
            return Err(word.doubt("may hold secrets"));
        }
    }
    Ok(())
}

/// Checks the builtin `set`: only options that affect when the shell exits and what it prints are allowed.
pub(super) fn check_set(words: &[Word<'_>]) -> Result<()> {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let text = word.literal()?;
        let letters = text.strip_prefix(['-', '+']).unwrap_or_default();
        if letters.is_empty()
            || !letters.chars().all(|it| matches!(it, 'e' | 'u' | 'x' | 'v' | 'o'))
        {
            return Err(word.doubt("is an option of the shell that is not known"));
        }
        if letters.contains('o') {
            let option = rest.next().ok_or_else(|| word.doubt("has no value"))?;
            let known = ["pipefail", "errexit", "nounset", "xtrace", "verbose"];
            if !known.contains(&option.literal()?) {
                return Err(option.doubt("is an option of the shell that is not known"));
            }
        }
    }
    Ok(())
}

/// Returns whether every `%` in a format of printf begins a conversion that prints.
fn is_plain_format(format: &str) -> bool {
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            continue;
        }
        let conversion = letters
            .by_ref()
            .find(|it| !matches!(it, '0'..='9' | '-' | '+' | ' ' | '#' | '.' | '*'));
        if !conversion.is_some_and(|it| "diouxXeEfFgGcsbq%".contains(it)) {
            return false;
        }
    }
    true
}

/// Returns whether a text has only process ids and options of ps. The option `e` is not allowed, because it shows the
/// environment of processes.
fn is_plain_ps(text: &str) -> bool {
    text.bytes().all(|it| it.is_ascii_digit() || b"auxfwrljsvmnchHLTZX,".contains(&it))
}
