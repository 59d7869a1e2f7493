//! Finds the commands that another command runs: after `env` and `xargs`, in `sh -c`, after `find -exec`.

use std::collections::HashSet;
use std::sync::Arc;

use toolwright::Danger;

use super::commands::{AssignedVariable, Commands, Function, SimpleCommand, Span, Unknown};
use super::flags::{has_letter, is_flag, is_meant, values};
use super::table::{CommandTable, Program, Runs};
use super::word::Word;

pub(super) struct Unwrap<'a> {
    pub(super) commands: &'a mut Commands,
    pub(super) table: &'a CommandTable,
    pub(super) span: &'a Span,
    pub(super) depth: usize,
}

impl Unwrap<'_> {
    /// Adds a command and the commands that it runs. `inside` are the functions whose definitions contain the command.
    /// `functions` are the functions of the line that the command can call.
    pub(super) fn add(&mut self, words: Vec<Word>, inside: &[String], functions: &HashSet<&str>) {
        self.add_from(&words.into(), 0, false, inside, functions);
    }

    fn add_from(
        &mut self,
        words: &Arc<[Word]>,
        at: usize,
        appended: bool,
        inside: &[String],
        functions: &HashSet<&str>,
    ) {
        let (mut at, mut appended) = (at, appended);
        // Each `env` in `env env env …` adds another command, and real lines have few of them.
        for _ in 0..32 {
            let Some(first) = words.get(at) else { return };
            let program = first.text.as_deref().filter(|_| !first.is_pattern);
            let function = match program {
                Some(name) if inside.iter().any(|it| it == name) => Function::Itself,
                Some(name) if functions.contains(name) => Function::Defined,
                _ => Function::No,
            };
            self.push(words, at, appended, function, false);
            let Some(program) = program else { return };
            let Some(entry) = self.table.program(program) else {
                return self.possible(words, at, appended, function);
            };
            let own = &words[at..];
            let rest = match &entry.runs {
                None => return,
                Some(Runs::Rest) => self.rest(entry, own),
                Some(Runs::Shell) => return self.shell(entry, own),
                Some(Runs::Line) => return self.line(entry, &own[1..]),
                Some(Runs::First) => return self.first(&own[1..]),
                Some(Runs::After) => return self.after(entry, own, inside, functions),
            };
            let Some(rest) = rest else { return };
            at += rest;
            appended |= entry.appends;
        }
        self.unknown("commands that run commands are nested too deeply");
    }

    fn push(
        &mut self,
        words: &Arc<[Word]>,
        at: usize,
        appended: bool,
        function: Function,
        is_possible: bool,
    ) {
        let (words, span) = (Arc::clone(words), self.span.clone());
        self.commands.commands.push(SimpleCommand {
            words,
            at,
            appended,
            span,
            function,
            is_possible,
        });
    }

    /// Finds the first argument of an unknown program that names a program rated above safe, and adds the command that
    /// begins there, because the unknown program may run it. A function of the line is known, so nothing is added for
    /// it.
    fn possible(&mut self, words: &Arc<[Word]>, at: usize, appended: bool, function: Function) {
        if function != Function::No {
            return;
        }
        let runs = |word: &Word| {
            let name = word.text.as_deref().filter(|it| !is_flag(it))?;
            self.table.program(name).filter(|it| it.level > Danger::Safe)
        };
        let found = words[at + 1..].iter().position(|it| runs(it).is_some());
        if let Some(found) = found {
            self.push(words, at + 1 + found, appended, Function::No, true);
        }
    }

    fn unknown(&mut self, reason: impl Into<String>) {
        self.commands.unknown.push(Unknown { reason: reason.into(), span: self.span.clone() });
    }

    /// Returns the index of the wrapped command, after the wrapper's own flags and positional arguments.
    fn rest(&mut self, entry: &Program, words: &[Word]) -> Option<usize> {
        let asks = |word: &Word| word.text.as_ref().is_some_and(|it| entry.asks.contains(it));
        if words.get(1).is_some_and(asks) {
            return None;
        }
        let (mut at, mut skip, mut ended) = (1, entry.skip, false);
        while let Some(word) = words.get(at) {
            let Some(text) = &word.text else {
                if skip > 0 && ended {
                    skip -= 1;
                    at += 1;
                    continue;
                }
                self.unknown(format!("which program `{}` runs is not known", entry.names[0]));
                return None;
            };
            if entry.line_flags.contains(text) && ended {
                let line = words.get(at + 1).and_then(|it| it.text.clone());
                match line {
                    Some(line) => self.read_nested(&line),
                    None => self.unknown("the command line that is run is not known"),
                }
                return None;
            }
            if !ended && text == "--" {
                ended = true;
            } else if !ended && (is_flag(text) || (entry.assigns && text == "-")) {
                let takes_next = entry.value_flags.iter().any(|it| it == text)
                    || entry.value_flags.iter().any(|it| ends_with_letter(text, it));
                at += usize::from(takes_next);
            } else if entry.assigns && text.contains('=') && !word.is_pattern {
                let (name, value) = text.split_once('=').unwrap_or((text, ""));
                self.commands.assignments.push(AssignedVariable {
                    name: name.to_owned(),
                    value: Some(value.to_owned()),
                    span: self.span.clone(),
                });
            } else if skip > 0 {
                skip -= 1;
                ended = true;
            } else {
                break;
            }
            at += 1;
        }
        (at < words.len()).then_some(at)
    }

    fn shell(&mut self, entry: &Program, words: &[Word]) {
        let mut rest = words[1..].iter();
        let mut is_line = false;
        while let Some(word) = rest.next() {
            let Some(text) = &word.text else {
                return self.unknown(format!("what `{}` runs is not known", entry.names[0]));
            };
            if is_line && matches!(text.as_str(), "--" | "-") {
                continue;
            }
            if is_line && !is_flag(text) && !text.starts_with('+') {
                let text = text.clone();
                return self.read_nested(&text);
            }
            if text == "--version" || text == "--help" {
                return;
            }
            // An argument such as `+o pipefail` unsets an option.
            if !is_flag(text) && !text.starts_with('+') {
                // The argument is the file of a script, which is rated with the program's arguments.
                return;
            }
            if !text.starts_with("--") && has_letter(text, 'c') {
                is_line = true;
            }
            if entry.value_flags.iter().any(|it| it == text) {
                rest.next();
            }
        }
        self.unknown(format!("`{}` reads its commands from its input", entry.names[0]));
    }

    /// Adds the command line that consists of the joined arguments.
    fn line(&mut self, entry: &Program, words: &[Word]) {
        let mut words = words;
        while let [first, rest @ ..] = words
            && let Some(flag) = first.text.as_deref().filter(|it| is_flag(it) || *it == "--")
        {
            let takes_next = entry.value_flags.iter().any(|it| it == flag);
            words = rest.get(usize::from(takes_next)..).unwrap_or_default();
        }
        let texts: Option<Vec<&str>> = words.iter().map(|it| it.text.as_deref()).collect();
        match texts {
            Some(texts) => self.read_nested(&texts.join(" ")),
            None => self.unknown("the command line that is run is not known"),
        }
    }

    /// Adds the command line in the first argument that is not a flag.
    fn first(&mut self, words: &[Word]) {
        for word in words {
            match &word.text {
                None => return self.unknown("the command line that is run is not known"),
                Some(text) if is_flag(text) || text == "--" => {}
                Some(text) => {
                    let text = text.clone();
                    return self.read_nested(&text);
                }
            }
        }
    }

    /// Adds the command between a marker and `;` or `+`.
    fn after(
        &mut self,
        entry: &Program,
        words: &[Word],
        inside: &[String],
        functions: &HashSet<&str>,
    ) {
        let mut at = 1;
        while at < words.len() {
            let text = words[at].text.as_deref();
            let marker = text.and_then(|it| {
                entry.markers.iter().find(|flag| is_meant(it, flag, &entry.value_flags))
            });
            let (Some(text), Some(marker)) = (text, marker) else {
                at += 1;
                continue;
            };
            // The command may be joined to the marker: `-xrm` and `--exec=rm`.
            let argument = [Some(text)];
            let joined =
                values(&argument, marker, &entry.value_flags).first().map(|it| Word::literal(*it));
            let end = |word: &Word| matches!(word.text.as_deref(), Some(";" | "+"));
            let length = words[at + 1..].iter().position(end).unwrap_or(words.len() - at - 1);
            let mut run: Vec<Word> =
                joined.into_iter().chain(words[at + 1..=at + length].iter().cloned()).collect();
            // `find` puts the names of found files in place of `{}`.
            for word in &mut run {
                if word.text.as_deref().is_some_and(|it| it.contains("{}")) {
                    *word = Word::unknown();
                }
            }
            if self.depth >= super::commands::DEEPEST {
                return self.unknown("commands that run commands are nested too deeply");
            }
            self.depth += 1;
            self.add_from(&run.into(), 0, true, inside, functions);
            self.depth -= 1;
            at += length + 1;
        }
    }

    fn read_nested(&mut self, text: &str) {
        self.commands.read(&text.into(), Some(&self.span.outer), self.table, self.depth + 1);
    }
}

/// Returns whether letters after one dash end with a flag that takes a value, as in `-xn 1`.
fn ends_with_letter(text: &str, flag: &str) -> bool {
    let letter = flag.strip_prefix('-').filter(|it| it.chars().count() == 1);
    !text.starts_with("--")
        && text.len() > 2
        && letter.is_some_and(|letter| {
            text.ends_with(letter) && text[1..].chars().all(|it| it.is_ascii_alphabetic())
        })
}
