//! The simple commands of a command line, those that other commands run among them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use tree_sitter::Tree;

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
    pub(super) redirects: Vec<RedirectedFile>,
    pub(super) assignments: Vec<AssignedVariable>,
    /// What the parser made of the line; nothing where it is not read.
    pub(super) tree: Option<Tree>,
}

/// A part of a line: of the text that is parsed, and its place in the whole line. Of a line in a quoted argument,
/// the whole part is that argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) text: Arc<str>,
    pub(super) inner: Range<usize>,
    pub(super) outer: Range<usize>,
}

/// One program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The words of the command that it is in, which one behind `env` and the like shares with that.
    pub(super) words: Arc<[Word]>,
    /// Where its own begin.
    pub(super) at: usize,
    /// Whether more arguments follow, which are not known.
    pub(super) appended: bool,
    pub(super) span: Span,
    /// It calls a function that the line defines, or nothing.
    pub(super) function: Function,
    /// It is in the arguments of a program that is not known, which may run it.
    pub(super) is_possible: bool,
}

/// A variable that is set, by `NAME=value` or by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AssignedVariable {
    pub(super) name: String,
    pub(super) value: Option<String>,
    pub(super) span: Span,
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
    pub(super) span: Span,
}

/// A file that the shell opens for a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RedirectedFile {
    pub(super) is_write: bool,
    pub(super) file: Option<String>,
    pub(super) span: Span,
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
        commands.read(&text.into(), None, table, 0);
        commands
    }

    /// Lists the commands in the order of the text; a command that another one runs follows it.
    #[must_use]
    pub fn commands(&self) -> &[SimpleCommand] {
        &self.commands
    }

    /// Lists what cannot be known.
    #[must_use]
    pub fn unknown(&self) -> &[Unknown] {
        &self.unknown
    }

    /// Lists the files that redirections write, as they are named; `None` for one whose name is not known.
    pub fn writes(&self) -> impl Iterator<Item = Option<&str>> {
        self.redirects.iter().filter(|it| it.is_write).map(|it| it.file.as_deref())
    }

    /// Lists the files that redirections read, as they are named; `None` for one whose name is not known.
    pub fn reads(&self) -> impl Iterator<Item = Option<&str>> {
        self.redirects.iter().filter(|it| !it.is_write).map(|it| it.file.as_deref())
    }

    /// Lists the variables that the line sets, by name.
    pub fn sets(&self) -> impl Iterator<Item = &str> {
        self.assignments.iter().map(|it| it.name.as_str())
    }

    /// Adds what is in a text; `outer` is its place in the whole line, when it is in a quoted argument.
    pub(super) fn read(
        &mut self,
        text: &Arc<str>,
        outer: Option<&Range<usize>>,
        table: &CommandTable,
        depth: usize,
    ) {
        let span = |range: &Range<usize>| Span {
            text: Arc::clone(text),
            inner: range.clone(),
            outer: outer.cloned().unwrap_or_else(|| range.clone()),
        };
        if depth > DEEPEST {
            let reason = "command lines stand in command lines too deeply".to_owned();
            self.unknown.push(Unknown { reason, span: span(&(0..text.len())) });
            return;
        }
        let mut found = tree::find(text);
        if depth == 0 {
            self.tree = found.tree.take();
        }
        for (reason, range) in &found.refusals {
            self.unknown.push(Unknown { reason: (*reason).to_owned(), span: span(range) });
        }
        let raws = std::mem::take(&mut found.commands);
        let values = Values::of(&raws, &found.assignments);
        let mut functions = Functions::of(&found.functions);
        for (at, raw) in raws.into_iter().enumerate() {
            if self.is_full() {
                let reason = "it has more than 4096 parts".to_owned();
                self.unknown.push(Unknown { reason, span: span(&raw.range) });
                break;
            }
            let words = values.resolve_variables(at, raw.words, &raw.range);
            let known = functions.before(raw.range.start);
            let span = span(&raw.range);
            Unwrap { commands: self, table, span: &span, depth }.add(words, &raw.inside, known);
        }
        for redirect in found.redirects {
            let file = redirect.target.text.filter(|_| !redirect.target.is_pattern);
            let (is_write, span) = (redirect.is_write, span(&redirect.range));
            self.redirects.push(RedirectedFile { is_write, file, span });
        }
        for assigned in found.assignments {
            let (name, value) = (assigned.name, assigned.value.text);
            self.assignments.push(AssignedVariable { name, value, span: span(&assigned.range) });
        }
    }

    /// Whether no more is read.
    pub(super) fn is_full(&self) -> bool {
        self.commands.len() + self.assignments.len() + self.unknown.len() >= tree::MOST_PARTS
    }
}

/// The functions that a line defines, by where their definitions end.
struct Functions<'f> {
    left: std::iter::Peekable<std::slice::Iter<'f, (String, usize)>>,
    known: HashSet<&'f str>,
}

impl<'f> Functions<'f> {
    fn of(found: &'f [(String, usize)]) -> Self {
        Self { left: found.iter().peekable(), known: HashSet::new() }
    }

    /// Those that are defined before a place. Places are asked for in the order of the text.
    fn before(&mut self, at: usize) -> &HashSet<&'f str> {
        while let Some((name, _)) = self.left.next_if(|(_, end)| *end <= at) {
            self.known.insert(name);
        }
        &self.known
    }
}

/// The variables whose value can only be one.
struct Values {
    /// The value, and where it is set.
    known: HashMap<String, Option<(String, usize)>>,
    /// The command that sets or removes variables by their names, where there is only one; beyond, no value is known.
    setters: (usize, usize),
}

impl Values {
    fn of(raws: &[Raw], assignments: &[Assignment]) -> Self {
        // What sets or removes a variable by its name.
        const SETS: [&str; 12] = [
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
        let mut known = HashMap::new();
        for assigned in assignments {
            let value = assigned.value.text.clone().filter(|_| assigned.holds);
            let value = value.map(|it| (it, assigned.range.end));
            known.entry(assigned.name.clone()).and_modify(|it| *it = None).or_insert(value);
        }
        let mut setters = (0, 0);
        if !known.is_empty() {
            for (at, raw) in raws.iter().enumerate() {
                let sets = raw
                    .words
                    .first()
                    .is_none_or(|first| first.text.as_deref().is_none_or(|it| SETS.contains(&it)));
                if sets {
                    setters = (setters.0 + 1, at);
                }
            }
        }
        Self { known, setters }
    }

    /// The words of a command, with variables replaced whose value can only be one.
    fn resolve_variables(&self, at: usize, words: Vec<Word>, range: &Range<usize>) -> Vec<Word> {
        let is_set_elsewhere = self.setters.0 > usize::from(self.setters.1 == at);
        if self.known.is_empty() || is_set_elsewhere || words.iter().all(|it| it.variable.is_none())
        {
            return words;
        }
        words.into_iter().flat_map(|word| self.replace_variable(word, range)).collect()
    }

    fn replace_variable(&self, word: Word, range: &Range<usize>) -> Vec<Word> {
        let value = word.variable.as_ref().and_then(|it| self.known.get(it)?.as_ref());
        let Some((value, _)) = value.filter(|(_, end)| *end <= range.start) else {
            return vec![word];
        };
        if word.is_quoted {
            return vec![Word { text: Some(value.clone()), is_quoted: true, ..Word::default() }];
        }
        // Unquoted, it is split, and patterns in it are replaced.
        let is_pattern = value.contains(['*', '?', '[']);
        let words = value.split_whitespace();
        words.map(|it| Word { text: Some(it.to_owned()), is_pattern, ..Word::default() }).collect()
    }
}

impl Span {
    /// The part of the text.
    pub(super) fn part(&self) -> &str {
        self.text.get(self.inner.clone()).unwrap_or(&self.text)
    }
}

impl Unknown {
    /// Returns the part of the text that it is about.
    #[must_use]
    pub fn part(&self) -> &str {
        self.span.part()
    }
}

impl SimpleCommand {
    /// Returns the program as it is written; `None` where only the shell that runs the line knows it.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.words.get(self.at).filter(|it| !it.is_pattern)?.text.as_deref()
    }

    /// Lists its arguments; `None` for one whose text is not known.
    pub fn arguments(&self) -> impl Iterator<Item = Option<&str>> {
        let known = self.words.get(self.at + 1..).unwrap_or_default();
        known.iter().map(|it| it.text.as_deref()).chain(self.appended.then_some(None))
    }

    /// Returns the part of the text that it is in.
    #[must_use]
    pub fn part(&self) -> &str {
        self.span.part()
    }

    /// Returns the place of that part in the whole text, in bytes.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.span.outer.clone()
    }
}
