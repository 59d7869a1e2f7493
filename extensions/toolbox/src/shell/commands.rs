//! The simple commands of a command line, including those that other commands run.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use tree_sitter::Tree;

use super::flags::is_flag;
use super::table::CommandTable;
use super::tree::{self, Assignment, Raw};
use super::unwrap::Unwrap;
use super::word::Word;

/// How deeply command lines may be nested, as in `sh -c "sh -c …"`.
pub(super) const DEEPEST: usize = 8;

/// The commands of a command line, as far as its text shows them.
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
    /// The syntax tree of the line; `None` if the line was not parsed.
    pub(super) tree: Option<Tree>,
}

/// A part of a line: its range in the parsed text, and its place in the whole line. For a line within a quoted
/// argument, the place is that of the command that has the argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) text: Arc<str>,
    pub(super) inner: Range<usize>,
    pub(super) outer: Range<usize>,
}

/// One program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The words of the whole command. If a program such as `env` runs another program, both have the same words.
    pub(super) words: Arc<[Word]>,
    /// The index of the word that names the program.
    pub(super) at: usize,
    /// Whether unknown arguments follow the words.
    pub(super) appended: bool,
    pub(super) span: Span,
    /// Whether the command calls a function that the line defines.
    pub(super) function: Function,
    /// Whether the command is in the arguments of an unknown program, which may or may not run it.
    pub(super) is_possible: bool,
}

/// A variable that the line sets: by `NAME=value`, also among the arguments of a program such as `env`, or as the
/// variable of a `for` loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AssignedVariable {
    pub(super) name: String,
    pub(super) value: Option<String>,
    pub(super) span: Span,
}

/// Whether a command calls a function that the line defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    No,
    Defined,
    /// The command calls the function within the definition of that function.
    Itself,
}

/// A part of a command line whose effect cannot be known before it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// The reason why the effect cannot be known.
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

    /// Parses a command line. The table says which programs run other programs.
    #[must_use]
    pub fn parse_by(text: &str, table: &CommandTable) -> Self {
        let mut commands = Self::default();
        commands.read(&text.into(), None, table, 0);
        commands
    }

    /// Lists the commands in the order of the text. A command that another command runs comes after that command.
    #[must_use]
    pub fn commands(&self) -> &[SimpleCommand] {
        &self.commands
    }

    /// Lists the parts whose effect cannot be known.
    #[must_use]
    pub fn unknown(&self) -> &[Unknown] {
        &self.unknown
    }

    /// Lists the files that redirections write, as written in the line; `None` for a pattern or an unknown name.
    pub fn writes(&self) -> impl Iterator<Item = Option<&str>> {
        self.redirects.iter().filter(|it| it.is_write).map(|it| it.file.as_deref())
    }

    /// Lists the files that redirections read, as written in the line; `None` for a pattern or an unknown name.
    pub fn reads(&self) -> impl Iterator<Item = Option<&str>> {
        self.redirects.iter().filter(|it| !it.is_write).map(|it| it.file.as_deref())
    }

    /// Lists the names of the variables that the line sets by assignments and `for` loops. Variables that builtins such
    /// as `read` set are not listed.
    pub fn sets(&self) -> impl Iterator<Item = &str> {
        self.assignments.iter().map(|it| it.name.as_str())
    }

    /// Adds the commands of a text. If the text is a quoted argument, `outer` is the place, in the whole line, of the
    /// command that has the argument.
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
            let reason = "command lines are nested too deeply".to_owned();
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

    /// Returns whether the line has too many parts, so that its remainder is not parsed.
    pub(super) fn is_full(&self) -> bool {
        self.commands.len() + self.assignments.len() + self.unknown.len() >= tree::MOST_PARTS
    }
}

/// The functions that a line defines, sorted by the end of their definitions.
struct Functions<'f> {
    left: std::iter::Peekable<std::slice::Iter<'f, (String, usize)>>,
    known: HashSet<&'f str>,
}

impl<'f> Functions<'f> {
    fn of(found: &'f [(String, usize)]) -> Self {
        Self { left: found.iter().peekable(), known: HashSet::new() }
    }

    /// Returns the functions that are defined before this place. Callers have to pass places in ascending order.
    fn before(&mut self, at: usize) -> &HashSet<&'f str> {
        while let Some((name, _)) = self.left.next_if(|(_, end)| *end <= at) {
            self.known.insert(name);
        }
        &self.known
    }
}

/// The variables of a line that have only one possible value.
struct Values {
    /// The value of each variable, and the place after its assignment; `None` if the line assigns the variable several
    /// times, if the value is unknown, or if the assignment may not apply to all later commands.
    known: HashMap<String, Option<(String, usize)>>,
    /// The number of commands that set or remove variables by name, and the index of the last of them. If any command
    /// but the one whose words are resolved does so, no value is known.
    setters: (usize, usize),
}

impl Values {
    fn of(raws: &[Raw], assignments: &[Assignment]) -> Self {
        // Programs that set or remove the variables that their arguments name.
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
                let mut words = raw.words.iter().map(|it| it.text.as_deref());
                // `command` and `builtin` run the program that the next word names.
                let is_program =
                    |it: &str| !matches!(it, "command" | "builtin" | "--") && !is_flag(it);
                let program = words.find(|it| it.is_none_or(is_program)).flatten();
                if program.is_none_or(|it| SETS.contains(&it)) {
                    setters = (setters.0 + 1, at);
                }
            }
        }
        Self { known, setters }
    }

    /// Returns the words of a command, with known values in place of variables.
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
        // The shell splits an unquoted value into words, and expands patterns in it.
        let is_pattern = value.contains(['*', '?', '[']);
        let words = value.split_whitespace();
        words.map(|it| Word { text: Some(it.to_owned()), is_pattern, ..Word::default() }).collect()
    }
}

impl Span {
    /// Returns the text of this part.
    pub(super) fn part(&self) -> &str {
        self.text.get(self.inner.clone()).unwrap_or(&self.text)
    }
}

impl Unknown {
    /// Returns the text of this part.
    #[must_use]
    pub fn part(&self) -> &str {
        self.span.part()
    }
}

impl SimpleCommand {
    /// Returns the name of the program as written; `None` if only the shell knows it at run time.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.words.get(self.at).filter(|it| !it.is_pattern)?.text.as_deref()
    }

    /// Lists the arguments of the command; `None` for an argument whose text is unknown.
    pub fn arguments(&self) -> impl Iterator<Item = Option<&str>> {
        let known = self.words.get(self.at + 1..).unwrap_or_default();
        known.iter().map(|it| it.text.as_deref()).chain(self.appended.then_some(None))
    }

    /// Returns the text of the command.
    #[must_use]
    pub fn part(&self) -> &str {
        self.span.part()
    }

    /// Returns the range of the command's text in the whole line, in bytes.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.span.outer.clone()
    }
}
