//! Whether the arguments of a program are a form in which it only reads and prints.

use std::borrow::Cow;
use std::ops::Range;

use super::forms::{Check, Form, Style, Takes};
use super::places::Folders;
use super::{Doubt, Prover, Result, scripts};
use crate::shell::paths;
use crate::shell::secrets::{Wildcards, may_be_secret};

/// A flag by its name, what it takes, and what is joined to it.
type Flag<'f, 'w> = (&'f str, Takes, Option<&'w str>);

/// A word of a command.
#[derive(Debug, Clone)]
pub(super) struct Word<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) kind: Kind,
    pub(super) range: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It is the text.
    Literal,
    /// The shell replaces it with the names of files that it fits.
    Pattern,
    /// It is the name of a file that `find` finds, with the text as the pattern of its last part.
    Found,
    /// It is any text.
    Any,
}

impl Word<'_> {
    pub(super) fn doubt(&self, reason: impl Into<Cow<'static, str>>) -> Doubt {
        Doubt { reason: reason.into(), range: self.range.clone() }
    }

    pub(super) fn literal(&self) -> Result<&str> {
        match self.kind {
            Kind::Literal => Ok(&self.text),
            _ => Err(self.doubt("stands where its text has to be known")),
        }
    }
}

/// What the flags of a command leave.
pub(super) struct Parsed<'w, 'a> {
    pub(super) places: Vec<&'w Word<'a>>,
    /// Where the first place stands; the number of words where there is none.
    pub(super) first: usize,
    pub(super) folders: Folders,
}

impl<'a> Prover<'a, '_> {
    /// Proves that a program with these arguments only reads and prints. `name` is the word of the program.
    pub(super) fn form(
        &mut self,
        form: &Form,
        name: &Word<'a>,
        words: &[Word<'a>],
        folders: &Folders,
    ) -> Result<()> {
        if form.is_alone(words) {
            if let Some(settings) = form.look {
                self.settings(settings, folders);
            }
            return Ok(());
        }
        if let Some(word) = words.iter().find(|it| form.response && it.text.starts_with('@')) {
            return Err(word.doubt("may name a file of arguments"));
        }
        if form.is_only_alone {
            return Err(name.doubt("is not known to only read so"));
        }
        if form.any && !(form.places.len() == 1 && words.iter().all(|it| it.kind == Kind::Literal))
        {
            let mut patterns = words.iter().filter(|it| it.kind == Kind::Pattern);
            return patterns.try_for_each(|it| self.file(it, folders, false));
        }
        match form.check {
            Some(Check::Find) => return self.find(name, words, folders),
            Some(Check::Test) => return self.test(name, words, folders),
            Some(Check::Set) => return set(words),
            Some(Check::Asks)
                if words.first().is_some_and(|it| matches!(&*it.text, "-v" | "-V")) =>
            {
                return words[1..].iter().try_for_each(|it| match it.literal()?.starts_with('-') {
                    true => Err(it.doubt("is not known of this program")),
                    false => Ok(()),
                });
            }
            _ => {}
        }
        let is_whole = form.sub.is_empty() && form.wraps.is_none();
        let parsed = self.flags(form, name, words, folders, is_whole)?;
        if !form.sub.is_empty() {
            match form.subcommand(&parsed.places, name) {
                Ok((length, sub)) => {
                    let at = parsed.first + length;
                    let name = &words[parsed.first];
                    return self.form(sub, name, &words[at..], &parsed.folders);
                }
                Err(doubt) if form.needs.is_empty() => return Err(doubt),
                // It has flags that say what it does, as well.
                Err(_) => {
                    let parsed = self.flags(form, name, words, folders, true)?;
                    return self.places(form, &parsed);
                }
            }
        }
        if let Some(skipped) = form.wraps {
            let mut at = parsed.first + skipped;
            while form.assigns
                && let Some((assigned, value)) =
                    words.get(at).and_then(|it| it.text.split_once('='))
            {
                let word = &words[at];
                word.literal()?;
                self.assigned(assigned, value, word.range.clone())?;
                at += 1;
            }
            let rest = words.get(at..).unwrap_or_default();
            if rest.is_empty() {
                return match skipped == 0 && (form.assigns || words.is_empty()) {
                    true => Ok(()),
                    false => Err(name.doubt("runs a command that is not there")),
                };
            }
            if form.check == Some(Check::Xargs) {
                let mut words = rest.to_vec();
                words.push(Word { text: "".into(), kind: Kind::Any, range: name.range.clone() });
                return self.run(&words, &parsed.folders);
            }
            return self.run(rest, &parsed.folders);
        }
        self.places(form, &parsed)
    }

    /// Reads the flags of a command up to its end, or to its first place.
    pub(super) fn flags<'w>(
        &mut self,
        form: &Form,
        name: &Word<'a>,
        words: &'w [Word<'a>],
        folders: &Folders,
        is_whole: bool,
    ) -> Result<Parsed<'w, 'a>> {
        let mut parsed =
            Parsed { places: Vec::new(), first: words.len(), folders: folders.clone() };
        let mut given: Vec<(&str, Option<String>)> = Vec::new();
        let (mut ended, mut has_ended, mut scripts, mut at) = (false, false, 0, 0);
        while let Some(word) = words.get(at) {
            at += 1;
            let text: &str = &word.text;
            let is_flag =
                !ended && text.len() > 1 && text.starts_with('-') && word.kind != Kind::Found;
            if !ended && text == "--" && word.kind == Kind::Literal {
                if form.flag("--").is_none() {
                    return Err(word.doubt("is not known of this program"));
                }
                (ended, has_ended) = (true, true);
                continue;
            }
            if !is_flag {
                let may_be_flag =
                    word.kind == Kind::Pattern && text.starts_with(['*', '?', '[']) && !ended;
                if may_be_flag && !form.plain && !self.look_at_pattern(word, folders, false) {
                    return Err(word.doubt("may fit the name of a file that looks like a flag"));
                }
                if text.len() > 1
                    && text.starts_with('-')
                    && ended
                    && !has_ended
                    && word.kind == Kind::Literal
                {
                    return Err(word.doubt("looks like a flag where a file stands"));
                }
                if text == "-" && form.flag("-").is_none() {
                    return Err(word.doubt("is not known of this program"));
                }
                if parsed.places.is_empty() {
                    parsed.first = at - 1;
                }
                parsed.places.push(word);
                if !is_whole {
                    // A subcommand, or a command, has the rest.
                    parsed.places.extend(words.get(at..).unwrap_or_default());
                    break;
                }
                ended |= form.style == Style::Posix;
                continue;
            }
            for (flag, takes, joined) in self.split(form, word)? {
                let value = match (takes, joined) {
                    (Takes::Nothing | Takes::Optional | Takes::NoScript, _) => None,
                    (_, Some(value)) => Some(Cow::Owned(Word {
                        text: value.to_owned().into(),
                        kind: word.kind,
                        range: word.range.clone(),
                    })),
                    (_, None) => {
                        let value = next_value(takes, word, words.get(at))?;
                        // A pattern becomes several words, of which only the first is the value.
                        value.literal()?;
                        at += 1;
                        Some(Cow::Borrowed(value))
                    }
                };
                if takes == Takes::Texts {
                    next_value(takes, word, words.get(at))?.literal()?;
                    at += 1;
                }
                scripts += usize::from(matches!(takes, Takes::Script | Takes::NoScript));
                if let Some(value) = &value {
                    self.taken_value(form, takes, value, &mut parsed)?;
                }
                let is_skip = form.skips.iter().any(|it| **it == *flag);
                let value = value.filter(|it| is_skip && it.kind == Kind::Literal);
                given.push((flag, value.map(|it| it.text.to_string())));
            }
        }
        let has = |flag: &str| given.iter().any(|(it, _)| *it == flag);
        for group in form.needs.iter().filter(|_| is_whole) {
            if !group.iter().any(|it| has(it)) {
                let reason = match group.first() {
                    Some(first) => format!("is known to only read with `{first}`"),
                    None => "is not known to only read".to_owned(),
                };
                return Err(name.doubt(reason));
            }
        }
        if is_whole && !form.places_with.is_empty() && !parsed.places.is_empty() {
            let is_there = form.places_with.iter().any(|it| has(it));
            if !is_there {
                return Err(
                    parsed.places[0].doubt("is more than a flag, with which it may do more")
                );
            }
        }
        if is_whole {
            // A script at the first place is no file.
            let has_script = form.places.first().is_some_and(|it| it.0 == Takes::Script);
            let skipped = usize::from(has_script && scripts == 0);
            self.look_at_trees(form, name, &given, &parsed, skipped)?;
            if let Some(settings) = form.look {
                self.settings(settings, &parsed.folders);
            }
            if scripts > 0 && form.places.first().is_some_and(|it| it.0 == Takes::Script) {
                // The script stands in a flag: a word takes its place.
                static SCRIPT: Word<'static> =
                    Word { text: Cow::Borrowed(""), kind: Kind::Literal, range: 0..0 };
                parsed.places.insert(0, &SCRIPT);
            }
        }
        Ok(parsed)
    }

    /// The flags of one word, each with what it takes and what is joined to it.
    fn split<'f, 'w>(&self, form: &'f Form, word: &'w Word<'a>) -> Result<Vec<Flag<'f, 'w>>> {
        let text: &str = &word.text;
        let unknown =
            |flag: &str| word.doubt(format!("has the flag `{flag}`, which is not known of it"));
        if word.kind != Kind::Literal {
            let is_value = text.split_once('=').is_some_and(|(name, _)| {
                word.kind == Kind::Pattern && !name.contains(['*', '?', '['])
            });
            if !is_value {
                return Err(word.doubt("is a flag of which not every letter is known"));
            }
        }
        let number = text[1..].bytes().all(|it| it.is_ascii_digit());
        if number && form.flag("-#").is_some() {
            return Ok(vec![("-#", Takes::Nothing, None)]);
        }
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        if text.starts_with("--") {
            let (flag, takes) = form.find_flag(name).ok_or_else(|| unknown(name))?;
            return match (takes, value) {
                (Takes::Nothing | Takes::NoScript, Some(_)) => Err(unknown(text)),
                _ => Ok(vec![(flag, takes, value)]),
            };
        }
        if form.style == Style::Exact {
            if let Some((flag, takes)) = form.find_flag(text) {
                return Ok(vec![(flag, takes, None)]);
            }
            let letter = text.char_indices().nth(2).map_or(text, |(at, _)| &text[..at]);
            return match form.find_flag(letter) {
                Some((flag, takes)) if takes != Takes::Nothing => {
                    Ok(vec![(flag, takes, Some(&text[letter.len()..]))])
                }
                _ => Err(unknown(text)),
            };
        }
        let mut flags = Vec::new();
        for (at, letter) in text.char_indices().skip(1) {
            let found = form.find_letter(letter);
            let (flag, takes) = found.ok_or_else(|| unknown(&format!("-{letter}")))?;
            let rest = &text[at + letter.len_utf8()..];
            if matches!(takes, Takes::Nothing | Takes::NoScript) {
                flags.push((flag, takes, None));
                continue;
            }
            flags.push((flag, takes, Some(rest).filter(|it| !it.is_empty())));
            break;
        }
        Ok(flags)
    }

    fn taken_value(
        &mut self,
        form: &Form,
        takes: Takes,
        value: &Word<'a>,
        parsed: &mut Parsed<'_, 'a>,
    ) -> Result<()> {
        if takes == Takes::Folder {
            parsed.folders = parsed.folders.changed(value)?;
            return Ok(());
        }
        if value.kind != Kind::Literal
            && !matches!(takes, Takes::Text | Takes::Include if value.kind == Kind::Pattern && !value.text.is_empty())
        {
            return Err(value.doubt("is the value of a flag, and not known"));
        }
        if value.text == "-" && form.flag("-").is_none() {
            return Err(value.doubt("is not known of this program"));
        }
        let folders = parsed.folders.clone();
        self.look(form, takes, value, &folders)
    }

    fn places(&mut self, form: &Form, parsed: &Parsed<'_, 'a>) -> Result<()> {
        let mut kinds = form.places.iter();
        let mut kind = kinds.next();
        for word in &parsed.places {
            let Some((takes, is_many)) = kind else {
                return Err(word.doubt("stands where nothing is known of it"));
            };
            if !is_many && word.kind == Kind::Pattern {
                return Err(word.doubt("may become several words where one is expected"));
            }
            self.look(form, *takes, word, &parsed.folders)?;
            if !is_many {
                kind = kinds.next();
            }
        }
        Ok(())
    }

    /// Looks at a word that is taken for something.
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
                // Names of files may be any text, which only a program takes of which no flag does harm.
                if word.kind != Kind::Literal && !form.plain && !text.contains('=') {
                    return Err(word.doubt("stands where its text has to be known"));
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
                folders.changed(word)?;
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
                    return Err(word.doubt("stands where nothing is known of it"));
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
            false => {
                Err(word.doubt(format!("is a script of {what} that may do more than to print")))
            }
        }
    }
}

impl Form {
    pub(super) fn is_alone(&self, words: &[Word<'_>]) -> bool {
        self.alone.iter().any(|alone| {
            alone.len() == words.len()
                && alone
                    .iter()
                    .zip(words)
                    .all(|(it, word)| word.kind == Kind::Literal && **it == *word.text)
        })
    }

    /// The subcommand that the places name, and of how many words its name is.
    fn subcommand(&self, places: &[&Word<'_>], name: &Word<'_>) -> Result<(usize, &Form)> {
        let found = self.sub.iter().filter(|(words, _)| {
            words.len() <= places.len()
                && words
                    .iter()
                    .zip(places)
                    .all(|(it, word)| word.kind == Kind::Literal && **it == *word.text)
        });
        let found = found.max_by_key(|(words, _)| words.len());
        found.map(|(words, form)| (words.len(), form)).ok_or_else(|| match places.first() {
            Some(word) => word.doubt("is a subcommand that is not known to only read"),
            None => name.doubt("is not known to only read so"),
        })
    }
}

/// The value of a flag in the next argument. What looks like another flag is one that the writer may have meant so.
fn next_value<'w, 'a>(
    takes: Takes,
    flag: &Word<'a>,
    value: Option<&'w Word<'a>>,
) -> Result<&'w Word<'a>> {
    let value = value.ok_or_else(|| flag.doubt("has no value"))?;
    let is_flag = match value.text.strip_prefix('-') {
        None | Some("") => false,
        Some(rest) if takes == Takes::Script => rest.starts_with('-'),
        Some(rest) => !rest.starts_with(|it: char| it.is_ascii_digit()),
    };
    match is_flag {
        true => Err(value.doubt("looks like a flag where a value stands")),
        false => Ok(value),
    }
}

/// A commit, a path, or a path of a commit: `HEAD:src/a.rs`. With a path outside of the repository, git reads any file.
fn revision(word: &Word<'_>, folders: &Folders) -> Result<()> {
    let path = word.literal()?.rsplit([':', ')']).next().unwrap_or_default();
    if path.starts_with(['/', '~']) || path.split('/').any(|it| it == "..") {
        return Err(word.doubt("may lie outside of the folder"));
    }
    // `*.rs` is a pattern of the files that git has.
    let is_open = path.starts_with(['*', '?', '[']) || path.contains("/*");
    for base in folders.all() {
        if !is_open && may_be_secret(&paths::joined(base, path), Wildcards::Doubtful) {
            return Err(word.doubt("may hold secrets"));
        }
    }
    Ok(())
}

/// Options of the shell that change no more than when it ends, and what it prints.
fn set(words: &[Word<'_>]) -> Result<()> {
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

/// Whether each `%` of a format of printf begins a conversion that prints.
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

/// Letters of ps without `e`, which would show the environment of processes, or ids of processes.
fn is_plain_ps(text: &str) -> bool {
    text.bytes().all(|it| it.is_ascii_digit() || b"auxfwrljsvmnchHLTZX,".contains(&it))
}
