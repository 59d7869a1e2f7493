//! Parses the flags of a command and their values.

use std::borrow::Cow;

use super::arguments::{Kind, ParsedArguments, Word};
use super::forms::{Form, Style, Takes};
use super::places::Folders;
use super::{Prover, Result};

/// A flag: its name in the table, the type of its value, and the value joined to it.
type Flag<'f, 'w> = (&'f str, Takes, Option<&'w str>);

impl<'a> Prover<'a, '_> {
    /// Parses the flags of a command, to the end of the command if `is_whole`, else to the first positional argument.
    pub(super) fn flags<'w>(
        &mut self,
        form: &Form,
        name: &Word<'a>,
        words: &'w [Word<'a>],
        folders: &Folders,
        is_whole: bool,
    ) -> Result<ParsedArguments<'w, 'a>> {
        let mut parsed =
            ParsedArguments { places: Vec::new(), first: words.len(), folders: folders.clone() };
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
                    return Err(word.doubt("looks like a flag in the place of a file"));
                }
                if text == "-" && form.flag("-").is_none() {
                    return Err(word.doubt("is not known of this program"));
                }
                if parsed.places.is_empty() {
                    parsed.first = at - 1;
                }
                parsed.places.push(word);
                if !is_whole {
                    // The remaining words belong to a subcommand or to the command that this program runs.
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
                        // A pattern expands to several words, and only the first of them would be the value.
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
                    Some(first) => format!("is known to only read if it has `{first}`"),
                    None => "is not known to only read".to_owned(),
                };
                return Err(name.doubt(reason));
            }
        }
        if is_whole && !form.places_with.is_empty() && !parsed.places.is_empty() {
            let is_there = form.places_with.iter().any(|it| has(it));
            if !is_there {
                return Err(parsed.places[0]
                    .doubt("is an argument with which the program may do more than read"));
            }
        }
        if is_whole {
            // If no flag has given the script, the first positional argument is the script and not a file.
            let has_script = form.places.first().is_some_and(|it| it.0 == Takes::Script);
            let skipped = usize::from(has_script && scripts == 0);
            self.look_at_trees(form, name, &given, &parsed, skipped)?;
            if let Some(settings) = form.look {
                self.settings(settings, &parsed.folders);
            }
            if scripts > 0 && form.places.first().is_some_and(|it| it.0 == Takes::Script) {
                // A flag has the script, so insert a placeholder for the positional argument.
                static SCRIPT: Word<'static> =
                    Word { text: Cow::Borrowed(""), kind: Kind::Literal, range: 0..0 };
                parsed.places.insert(0, &SCRIPT);
            }
        }
        Ok(parsed)
    }

    /// Returns the flags of one word, each with the type of its value and its joined value.
    fn split<'f, 'w>(&self, form: &'f Form, word: &'w Word<'a>) -> Result<Vec<Flag<'f, 'w>>> {
        let text: &str = &word.text;
        let unknown =
            |flag: &str| word.doubt(format!("has the flag `{flag}`, which is not known of it"));
        if word.kind != Kind::Literal {
            let is_value = text.split_once('=').is_some_and(|(name, _)| {
                word.kind == Kind::Pattern && !name.contains(['*', '?', '['])
            });
            if !is_value {
                return Err(word.doubt("has a letter that is not a known flag"));
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
        parsed: &mut ParsedArguments<'_, 'a>,
    ) -> Result<()> {
        if takes == Takes::Folder {
            parsed.folders = parsed.folders.change_to(value)?;
            return Ok(());
        }
        if value.kind != Kind::Literal
            && !matches!(takes, Takes::Text | Takes::Include if value.kind == Kind::Pattern && !value.text.is_empty())
        {
            return Err(value.doubt("is the value of a flag, and is not known"));
        }
        if value.text == "-" && form.flag("-").is_none() {
            return Err(value.doubt("is not known of this program"));
        }
        let folders = parsed.folders.clone();
        self.look(form, takes, value, &folders)
    }
}

/// Returns the value of a flag from the next argument. Refuses a value that looks like a flag, because it may be meant
/// as a flag.
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
        true => Err(value.doubt("looks like a flag in the place of a value")),
        false => Ok(value),
    }
}
