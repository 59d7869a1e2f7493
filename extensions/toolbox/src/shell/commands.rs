//! The simple commands of a command line, those that other commands run among them.

use std::ops::Range;

use super::table::CommandTable;
use super::tree::{self, Assignment, Raw};
use super::unwrap::Unwrap;
use super::word::Word;

/// How deep command lines may stand in command lines: `sh -c "sh -c …"`.
pub(super) const DEEPEST: usize = 8;

/// What a command line runs, as far as its text shows it.
///
/// ```
/// use toolwright_toolbox::Commands;
///
/// let commands = Commands::parse("cd src && env LANG=C sh -c 'grep -rn todo . | wc -l' > ../todo.txt");
/// let programs: Vec<_> = commands.commands().iter().filter_map(|it| it.program()).collect();
/// assert_eq!(programs, ["cd", "env", "sh", "grep", "wc"]);
/// assert_eq!(commands.writes().collect::<Vec<_>>(), [Some("../todo.txt")]);
/// assert!(commands.unknown().is_empty());
/// ```
#[derive(Debug, Default)]
pub struct Commands {
    pub(super) commands: Vec<SimpleCommand>,
    pub(super) unknown: Vec<Unknown>,
    pub(super) redirects: Vec<Redirected>,
    pub(super) assignments: Vec<(String, Option<String>, String)>,
}

/// One program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    pub(super) program: Option<String>,
    pub(super) arguments: Vec<Option<String>>,
    pub(super) part: String,
    pub(super) range: Range<usize>,
    /// It calls a function that the line defines, or nothing.
    pub(super) function: Function,
}

/// Whether a command is a call of a function that the line defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    No,
    Defined,
    /// From within its own definition.
    Itself,
}

/// What of a command line cannot be known before it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// Why it is not known.
    pub reason: String,
    /// The part of the text that it is about.
    pub part: String,
}

/// A file that the shell opens for a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Redirected {
    pub(super) is_write: bool,
    pub(super) file: Option<String>,
    pub(super) part: String,
    pub(super) range: Range<usize>,
}

impl Commands {
    /// Parses a command line of bash.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self::parse_by(text, CommandTable::standard())
    }

    /// Parses a command line; the table says which programs run others.
    #[must_use]
    pub fn parse_by(text: &str, table: &CommandTable) -> Self {
        let mut commands = Self::default();
        commands.read(text, None, table, 0);
        commands
    }

    /// The commands in the order of the text; a command that another one runs follows it.
    #[must_use]
    pub fn commands(&self) -> &[SimpleCommand] {
        &self.commands
    }

    /// What cannot be known.
    #[must_use]
    pub fn unknown(&self) -> &[Unknown] {
        &self.unknown
    }

    /// The files that redirections write, as they are named; nothing for one whose name is not known.
    pub fn writes(&self) -> impl Iterator<Item = Option<&str>> {
        self.redirects.iter().filter(|it| it.is_write).map(|it| it.file.as_deref())
    }

    /// The files that redirections read, as they are named; nothing for one whose name is not known.
    pub fn reads(&self) -> impl Iterator<Item = Option<&str>> {
        self.redirects.iter().filter(|it| !it.is_write).map(|it| it.file.as_deref())
    }

    /// The variables that the line sets, by name.
    pub fn sets(&self) -> impl Iterator<Item = &str> {
        self.assignments.iter().map(|(name, ..)| name.as_str())
    }

    /// Adds what stands in a text; `outer` is where it stands in the whole line, when it stands in a quoted argument.
    pub(super) fn read(
        &mut self,
        text: &str,
        outer: Option<&Range<usize>>,
        table: &CommandTable,
        depth: usize,
    ) {
        let part = |range: &Range<usize>| text.get(range.clone()).unwrap_or(text).to_owned();
        let whole = |range: &Range<usize>| outer.cloned().unwrap_or_else(|| range.clone());
        if depth > DEEPEST {
            self.unknown.push(Unknown {
                reason: "command lines stand in command lines too deeply".to_owned(),
                part: text.to_owned(),
            });
            return;
        }
        let mut found = tree::find(text);
        for (reason, range) in &found.refusals {
            self.unknown.push(Unknown { reason: (*reason).to_owned(), part: part(range) });
        }
        let raws = std::mem::take(&mut found.commands);
        for raw in &raws {
            let words = resolved(raw, &raws, &found.assignments);
            let (part, range) = (part(&raw.range), whole(&raw.range));
            let known = found.functions.iter().filter(|(_, end)| *end <= raw.range.start);
            let functions: Vec<String> = known.map(|(name, _)| name.clone()).collect();
            let mut unwrap = Unwrap { commands: self, table, part: &part, range: &range, depth };
            unwrap.add(words, &raw.inside, &functions);
        }
        for redirect in &found.redirects {
            let file = redirect.target.text.clone().filter(|_| !redirect.target.is_pattern);
            let (part, range) = (part(&redirect.range), whole(&redirect.range));
            self.redirects.push(Redirected { is_write: redirect.is_write, file, part, range });
        }
        for assigned in &found.assignments {
            let (name, value) = (assigned.name.clone(), assigned.value.text.clone());
            self.assignments.push((name, value, part(&assigned.range)));
        }
    }
}

/// The words of a command, with variables replaced whose value can only be one.
fn resolved(raw: &Raw, all: &[Raw], assignments: &[Assignment]) -> Vec<Word> {
    raw.words.iter().flat_map(|word| replaced(word, raw, all, assignments)).collect()
}

fn replaced(word: &Word, raw: &Raw, all: &[Raw], assignments: &[Assignment]) -> Vec<Word> {
    let Some(name) = &word.variable else { return vec![word.clone()] };
    let mut assigned = assignments.iter().filter(|it| it.name == *name);
    let only = assigned.next().filter(|_| assigned.next().is_none());
    let value = only
        .filter(|it| it.holds && it.range.end <= raw.range.start)
        .and_then(|it| it.value.text.as_deref());
    // What sets or removes a variable by its name.
    let sets = [
        "read",
        "unset",
        "mapfile",
        "readarray",
        "getopts",
        "printf",
        "local",
        "declare",
        "typeset",
        "eval",
        "source",
        ".",
    ];
    let is_set_elsewhere = all.iter().any(|it| {
        it.words
            .first()
            .is_none_or(|first| first.text.as_deref().is_none_or(|it| sets.contains(&it)))
            && it.range != raw.range
    });
    match value {
        Some(value) if !is_set_elsewhere => {
            if word.is_quoted {
                return vec![Word {
                    text: Some(value.to_owned()),
                    is_quoted: true,
                    ..Word::default()
                }];
            }
            // Unquoted, it is split, and patterns in it are replaced.
            let is_pattern = value.contains(['*', '?', '[']);
            value
                .split_whitespace()
                .map(|it| Word { text: Some(it.to_owned()), is_pattern, ..Word::default() })
                .collect()
        }
        _ => vec![word.clone()],
    }
}

impl SimpleCommand {
    /// The program as it is written; nothing where only the shell that runs the line knows it.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.program.as_deref()
    }

    /// Its arguments; nothing for one whose text is not known.
    pub fn arguments(&self) -> impl ExactSizeIterator<Item = Option<&str>> {
        self.arguments.iter().map(Option::as_deref)
    }

    /// The part of the text in which it stands.
    #[must_use]
    pub fn part(&self) -> &str {
        &self.part
    }

    /// Where that part stands in the whole text, in bytes.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }
}
