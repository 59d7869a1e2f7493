//! Proves that a line is safe: every word of it is understood, and all its programs only read and print.
//!
//! ```text
//!  tree ─▶ statements, in order, with the folders that the line may be in ─▶ words that are known exactly
//!                                                                              └─▶ the form of their program
//! ```
//!
//! A word is only understood if it is listed here or in the table of forms. This applies to kinds of nodes, expansions,
//! names of variables, programs, flags and positional arguments. The first word that is not understood is the reason
//! why the line needs an approval.

mod arguments;
mod find;
mod flags;
mod forms;
mod looks;
mod places;
mod redirects;
mod scripts;
mod statements;
mod test;
mod text;
mod values;
mod variables;

use std::borrow::Cow;
use std::ops::Range;

use tree_sitter::{Node, Tree};

use self::arguments::{Kind, Word};
use self::forms::Check;
pub(super) use self::forms::{FormEntry, Forms};
pub(crate) use self::looks::Look;
#[cfg(all(feature = "process", unix))]
pub(crate) use self::looks::{Settings, Start, Walk};
use self::places::{Ends, Folders};
pub(super) use self::scripts::is_plain_sed;
use super::table::CommandTable;
use super::{paths, tree};

/// How deeply statements may be nested.
const DEEPEST: usize = 40;

/// The most commands that are checked. The body of a loop counts once for each value.
const MOST: usize = 4096;

/// The part of a line that was not understood, which prevents the proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Doubt {
    pub(super) reason: Cow<'static, str>,
    pub(super) range: Range<usize>,
}

type Result<T, E = Doubt> = std::result::Result<T, E>;

/// The effects of a safe line.
#[derive(Debug)]
pub(super) struct Proof {
    /// The files that the line reads, relative to the workspace.
    pub(super) reads: Vec<String>,
    /// The checks that have to succeed before the line runs.
    pub(super) looks: Vec<Look>,
}

/// Proves that a line is safe if it begins in this folder of the workspace, or returns the part that was not
/// understood.
pub(super) fn prove(
    tree: &Tree,
    source: &str,
    folder: &str,
    table: &CommandTable,
) -> Result<Proof> {
    let mut prover = Prover::new(source, table);
    let start = Folders::start(folder);
    if start.all().any(paths::is_outside) {
        return prover.doubt(tree.root_node(), "runs outside of the workspace");
    }
    prover.statements(tree.root_node(), &start)?;
    Ok(Proof { reads: prover.reads, looks: prover.looks })
}

/// Returns whether a program with these literal arguments only reads and prints.
pub(super) fn only_reads(program: &str, arguments: &[&str], table: &CommandTable) -> bool {
    let Some(Forms(form)) = table.forms(program) else { return false };
    let literal = |text: &&'_ str| Word {
        text: Cow::Owned((*text).to_owned()),
        kind: Kind::Literal,
        range: 0..0,
    };
    let words: Vec<Word<'_>> = arguments.iter().map(literal).collect();
    let runs = form.wraps.is_some() || matches!(form.check, Some(Check::Shell));
    !runs
        && Prover::new("", table)
            .form(form, &literal(&program), &words, &Folders::start(""))
            .is_ok()
}

struct Prover<'a, 't> {
    source: &'a str,
    table: &'t CommandTable,
    reads: Vec<String>,
    looks: Vec<Look>,
    /// The variables that the line has set, with their values; `None` if the value is unknown.
    known: Vec<(&'a str, Option<Word<'a>>)>,
    left: usize,
    depth: usize,
    /// Whether bash runs the line, and not another shell.
    is_bash: bool,
    is_loop: bool,
    /// The possible folders at the beginning of the outermost loop over file names.
    looped: Option<Folders>,
}

impl<'a, 't> Prover<'a, 't> {
    fn new(source: &'a str, table: &'t CommandTable) -> Self {
        Self {
            source,
            table,
            reads: Vec::new(),
            looks: Vec::new(),
            known: Vec::new(),
            left: MOST,
            depth: 0,
            is_bash: true,
            is_loop: false,
            looped: None,
        }
    }
}

impl<'a> Prover<'a, '_> {
    fn doubt<T>(&self, node: Node<'_>, reason: &'static str) -> Result<T> {
        Err(Doubt { reason: reason.into(), range: node.byte_range() })
    }

    fn text(&self, node: Node<'_>) -> &'a str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }

    fn command(&mut self, node: Node<'_>, from: &Folders) -> Result<Ends> {
        let mut words = Vec::new();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => self.check_passed(child)?,
                "file_redirect" | "herestring_redirect" => self.redirect(child, from)?,
                _ => words.push(self.word(child)?),
            }
        }
        if let [name, rest @ ..] = &words[..]
            && name.kind == Kind::Literal
            && name.text == "cd"
        {
            let flags =
                rest.iter().take_while(|it| matches!(&*it.text, "-L" | "-P" | "--")).count();
            return match &rest[flags..] {
                [to] => Ok(Ends { good: from.change_to(to)?, bad: from.clone() }),
                _ => self.doubt(node, "changes to a folder that is not known"),
            };
        }
        self.run(&words, from)?;
        Ok(Ends::at(from))
    }

    /// Proves that a command only reads and prints.
    fn run(&mut self, words: &[Word<'a>], folders: &Folders) -> Result<()> {
        let Some((name, rest)) = words.split_first() else { return Ok(()) };
        self.left =
            self.left.checked_sub(1).ok_or_else(|| name.doubt("is one command too many"))?;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(name.doubt("is nested too deeply"));
        }
        let program = name.literal()?;
        if program == "cd" || self.table.is_elsewhere(program) {
            return Err(name.doubt("is not a known program"));
        }
        let table = self.table;
        let Some(Forms(form)) = table.forms(program) else {
            return Err(name.doubt("is not known to only read"));
        };
        match form.check {
            Some(Check::Shell) if !form.is_alone(rest) => self.shell(name, rest, folders)?,
            _ => self.form(form, name, rest, folders)?,
        }
        self.depth -= 1;
        Ok(())
    }

    /// Proves the safety of the line in `bash -c 'a line'`.
    fn shell(&mut self, name: &Word<'a>, words: &[Word<'a>], folders: &Folders) -> Result<()> {
        let is_bash = name.text.rsplit('/').next() == Some("bash");
        let (line, flags) = match words {
            [flags, line] => (line, flags.literal()?),
            [option, value, flags, line]
                if is_bash && option.text == "-o" && value.text == "pipefail" =>
            {
                (line, flags.literal()?)
            }
            _ => return Err(name.doubt("is known only with `-c` and a line")),
        };
        let letters = flags.strip_prefix('-').and_then(|it| it.strip_suffix('c'));
        if !letters.is_some_and(|it| it.chars().all(|it| matches!(it, 'e' | 'u' | 'x'))) {
            return Err(words[0].doubt("is not known of this program"));
        }
        let text = line.literal()?;
        // Other shells parse these texts differently.
        let differs = ["$'", "$\"", "&>", "|&", "<<<", "((", "[[", "<(", ">("];
        if !is_bash && differs.iter().any(|it| text.contains(it)) {
            return Err(line.doubt("is a line that shells read in different ways"));
        }
        let doubt = |reason: Cow<'static, str>| Doubt { reason, range: line.range.clone() };
        let found = tree::find(text);
        let Some(tree) = found.tree.filter(|_| found.refusals.is_empty()) else {
            return Err(line.doubt("is a line that is not understood"));
        };
        let mut inner = Prover::new(text, self.table);
        (inner.left, inner.depth, inner.is_bash) = (self.left, self.depth, is_bash);
        let ended = inner.statements(tree.root_node(), folders);
        self.left = inner.left;
        self.reads.append(&mut inner.reads);
        inner.looks.retain(|it| !self.looks.contains(it));
        self.looks.append(&mut inner.looks);
        ended.map(|_| ()).map_err(|it| doubt(it.reason))
    }
}
