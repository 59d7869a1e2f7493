//! Checks whether the arguments of a program have a form in which it only reads and prints.

use std::borrow::Cow;
use std::ops::Range;

use super::forms::{Check, Form};
use super::places::Folders;
use super::values::check_set;
use super::{Doubt, Prover, Result};

/// A word of a command.
#[derive(Debug, Clone)]
pub(super) struct Word<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) kind: Kind,
    pub(super) range: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The word is exactly the text.
    Literal,
    /// The word is a pattern, which the shell replaces with the names of matching files.
    Pattern,
    /// The word is the name of a file that `find` finds. The text is the folder where `find` starts, a slash, and the
    /// pattern of the name's last part.
    Found,
    /// The word may be any text.
    Any,
}

impl Word<'_> {
    pub(super) fn doubt(&self, reason: impl Into<Cow<'static, str>>) -> Doubt {
        Doubt { reason: reason.into(), range: self.range.clone() }
    }

    pub(super) fn literal(&self) -> Result<&str> {
        match self.kind {
            Kind::Literal => Ok(&self.text),
            _ => Err(self.doubt("is in a place where its text has to be known")),
        }
    }
}

/// The arguments of a command without its flags.
pub(super) struct ParsedArguments<'w, 'a> {
    pub(super) places: Vec<&'w Word<'a>>,
    /// The index of the first positional argument; if there is none, the number of words.
    pub(super) first: usize,
    pub(super) folders: Folders,
}

impl<'a> Prover<'a, '_> {
    /// Proves that a program with these arguments only reads and prints. `name` is the word that names the program.
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
            return Err(name.doubt("is not known to only read in this form"));
        }
        if form.any && !(form.places.len() == 1 && words.iter().all(|it| it.kind == Kind::Literal))
        {
            let mut patterns = words.iter().filter(|it| it.kind == Kind::Pattern);
            return patterns.try_for_each(|it| self.file(it, folders, false));
        }
        match form.check {
            Some(Check::Find) => return self.find(name, words, folders),
            Some(Check::Test) => return self.test(name, words, folders),
            Some(Check::Set) => return check_set(words),
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
                // The program may also be used with flags that select its operation, without a subcommand.
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
                self.check_assigned(assigned, value, word.range.clone())?;
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

    fn places(&mut self, form: &Form, parsed: &ParsedArguments<'_, 'a>) -> Result<()> {
        let mut kinds = form.places.iter();
        let mut kind = kinds.next();
        for word in &parsed.places {
            let Some((takes, is_many)) = kind else {
                return Err(word.doubt("is in a place where no argument is known"));
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

    /// Returns the form of the subcommand that the positional arguments name, and the number of words in its name.
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
            None => name.doubt("is not known to only read in this form"),
        })
    }
}
