//! Proves that a line is safe: every word of it is understood, and all that it runs only reads and prints.
//!
//! ```text
//!  tree ─▶ statements, in order, with the folders that the line may be in ─▶ words that are known exactly
//!                                                                              └─▶ the form of their program
//! ```
//!
//! What is not listed here or in the table of forms is not understood: a kind of node, an expansion, a name of a variable,
//! a program, a flag, a place. The first such word is the answer, and the line asks.

mod arguments;
mod find;
mod forms;
mod looks;
mod places;
mod scripts;
mod test;
mod text;

use std::borrow::Cow;
use std::ops::Range;

use tree_sitter::{Node, Tree};

use self::arguments::{Kind, Word};
use self::forms::Check;
pub(super) use self::forms::{Forms, Written};
pub(crate) use self::looks::Look;
#[cfg(all(feature = "process", unix))]
pub(crate) use self::looks::{Settings, Start, Walk};
use self::places::{Ends, Folders};
pub(super) use self::scripts::is_plain_sed;
use super::table::CommandTable;
use super::{paths, tree};

/// How deep statements may stand in others.
const DEEPEST: usize = 40;

/// So many commands are looked at; the body of a loop counts once for each value.
const MOST: usize = 4096;

/// What of a line was not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Doubt {
    pub(super) reason: Cow<'static, str>,
    pub(super) range: Range<usize>,
}

type Result<T, E = Doubt> = std::result::Result<T, E>;

/// What a safe line does.
#[derive(Debug)]
pub(super) struct Proof {
    /// The files that it reads, as they are found from the workspace.
    pub(super) reads: Vec<String>,
    /// What has to hold where it runs.
    pub(super) looks: Vec<Look>,
}

/// Proves that a line is safe that runs in this folder of the workspace, or names what was not understood.
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

/// Whether a program with these arguments, all of which are literal, only reads and prints.
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
    /// The variables of which the value is known, or known not to be.
    known: Vec<(&'a str, Option<Word<'a>>)>,
    left: usize,
    depth: usize,
    /// Whether bash reads the line, and not another shell.
    is_bash: bool,
    is_loop: bool,
    /// Where the outermost loop over names of files begins.
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

    /// Statements one after the other.
    fn statements(&mut self, node: Node<'_>, from: &Folders) -> Result<Ends> {
        let mut ends = Ends::at(from);
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        for (at, child) in children.iter().enumerate() {
            match child.kind() {
                "{" | "}" | "(" | ")" | "do" | "done" | ";" | "\n" | "&" | "then" | "else"
                | "comment" => {}
                _ if !child.is_named() => return self.doubt(*child, "is not understood here"),
                _ => {
                    let folders =
                        ends.either().map_err(|()| Doubt::too_many(child.byte_range()))?;
                    if children.get(at + 1).is_some_and(|it| it.kind() == "&") {
                        // It runs beside the line, in a shell of its own.
                        self.apart(|it| it.statement(*child, &folders))?;
                        ends = Ends::at(&folders);
                    } else {
                        ends = self.statement(*child, &folders)?;
                    }
                }
            }
        }
        Ok(ends)
    }

    fn statement(&mut self, node: Node<'_>, from: &Folders) -> Result<Ends> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.doubt(node, "is nested too deeply");
        }
        let ends = self.statement_of(node, from);
        self.depth -= 1;
        ends
    }

    fn statement_of(&mut self, node: Node<'_>, from: &Folders) -> Result<Ends> {
        let mut cursor = node.walk();
        match node.kind() {
            "command" => self.command(node, from),
            "declaration_command" => self.declared(node).map(|()| Ends::at(from)),
            "variable_assignment" => self.set(node).map(|()| Ends::at(from)),
            "test_command" => {
                self.test_command(node, from)?;
                Ok(Ends::at(from))
            }
            "redirected_statement" => {
                let is_redirect = |it: &Node<'_>| it.kind().ends_with("_redirect");
                let (redirects, body): (Vec<_>, Vec<_>) =
                    node.children(&mut cursor).partition(is_redirect);
                match body[..] {
                    [] => self.redirected(None, from, &redirects),
                    [body] => self.redirected(Some(body), from, &redirects),
                    _ => self.doubt(node, "is not understood"),
                }
            }
            "list" => self.list(node, from, &[]),
            "pipeline" => self.pipeline(node, from, &[]),
            "subshell" => {
                self.apart(|it| it.statements(node, from))?;
                Ok(Ends::at(from))
            }
            "compound_statement" => self.statements(node, from),
            "negated_command" => {
                for child in node.children(&mut cursor).filter(|it| it.kind() != "!") {
                    let ends = self.statement(child, from)?;
                    if ends.good != *from || ends.bad != *from {
                        return self.doubt(child, "changes the folder where that is not followed");
                    }
                }
                Ok(Ends::at(from))
            }
            "if_statement" | "while_statement" => self.branches(node, from),
            "for_statement" => self.for_each(node, from),
            _ => self.doubt(node, "is not understood"),
        }
    }

    /// A statement with redirections, which hold for the last command of a list or a pipe.
    fn redirected(
        &mut self,
        body: Option<Node<'_>>,
        from: &Folders,
        redirects: &[Node<'_>],
    ) -> Result<Ends> {
        if redirects.is_empty()
            && let Some(body) = body
        {
            return self.statement(body, from);
        }
        match body {
            Some(body) if body.kind() == "list" => self.list(body, from, redirects),
            Some(body) if body.kind() == "pipeline" => self.pipeline(body, from, redirects),
            _ => {
                redirects.iter().try_for_each(|it| self.redirect(*it, from))?;
                body.map_or_else(|| Ok(Ends::at(from)), |it| self.statement(it, from))
            }
        }
    }

    fn pipeline(&mut self, node: Node<'_>, from: &Folders, redirects: &[Node<'_>]) -> Result<Ends> {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        for (at, child) in children.iter().enumerate() {
            let redirects = if at + 1 == children.len() { redirects } else { &[] };
            match child.kind() {
                "|" => {}
                "|&" if self.is_bash => {}
                _ => self.apart(|it| it.redirected(Some(*child), from, redirects))?,
            }
        }
        Ok(Ends::at(from))
    }

    /// `a && b` and `a || b`.
    fn list(&mut self, node: Node<'_>, from: &Folders, redirects: &[Node<'_>]) -> Result<Ends> {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        let [first, operator, second] = children[..] else {
            return self.doubt(node, "is not understood");
        };
        let first = self.statement(first, from)?;
        let ends = match operator.kind() {
            "&&" => {
                let second =
                    self.maybe(|it| it.redirected(Some(second), &first.good, redirects))?;
                Ends { good: second.good, bad: first.bad.or(&second.bad) }
            }
            "||" => {
                let second = self.maybe(|it| it.redirected(Some(second), &first.bad, redirects))?;
                Ends { good: first.good.or(&second.good), bad: second.bad }
            }
            _ => return self.doubt(operator, "is not understood here"),
        };
        match ends.good.are_too_many() || ends.bad.are_too_many() {
            true => Err(Doubt::too_many(node.byte_range())),
            false => Ok(ends),
        }
    }

    /// What runs in a shell of its own: what it sets holds nowhere else.
    fn apart<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<()> {
        let known = self.known.clone();
        run(self)?;
        self.known = known;
        Ok(())
    }

    /// What may run or not: what it sets is not known after it.
    fn maybe<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = self.known.len();
        let ended = run(self)?;
        for at in before..self.known.len() {
            self.known[at].1 = None;
        }
        Ok(ended)
    }

    /// Conditions and what depends on them. The folder stays the same.
    fn branches(&mut self, node: Node<'_>, from: &Folders) -> Result<Ends> {
        let was_loop = self.is_loop;
        self.is_loop |= node.kind() == "while_statement";
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "if" | "then" | "fi" | ";" | "\n" | "while" | "until" | "else" | "elif"
                | "comment" => {}
                "do_group" => self.still(child, from, true)?,
                "elif_clause" | "else_clause" => {
                    self.branches(child, from)?;
                }
                _ => self.still(child, from, false)?,
            }
        }
        self.is_loop = was_loop;
        Ok(Ends::at(from))
    }

    /// A statement, or several, that may run or not, and leave the folder as it is.
    fn still(&mut self, node: Node<'_>, from: &Folders, is_group: bool) -> Result<()> {
        let ends = self.maybe(|it| match is_group {
            true => it.statements(node, from),
            false => it.statement(node, from),
        })?;
        if ends.good != *from || ends.bad != *from {
            return self.doubt(node, "changes the folder where that is not followed");
        }
        Ok(())
    }

    /// `for name in …; do …; done`, of which each value is known: the body is looked at with each.
    fn for_each(&mut self, node: Node<'_>, from: &Folders) -> Result<Ends> {
        let (mut values, mut name, mut body) = (Vec::new(), None, None);
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "for" | "in" | ";" | "\n" => {}
                "variable_name" => name = Some(child),
                "do_group" => body = Some(child),
                _ => values.push(self.word(child)?),
            }
        }
        let (Some(name), Some(body)) = (name, body) else {
            return self.doubt(node, "is not understood");
        };
        if values.is_empty() {
            return self.doubt(node, "goes over arguments that are not known");
        }
        let (was_loop, range, name) = (self.is_loop, name.byte_range(), self.text(name));
        self.assigned(name, "", range)?;
        self.is_loop = true;
        let outer = self.looped.clone();
        self.looped.get_or_insert_with(|| from.clone());
        for value in values {
            let before = self.known.len();
            self.known.push((name, Some(value)));
            self.still(body, from, true)?;
            self.known.truncate(before);
        }
        (self.is_loop, self.looped) = (was_loop, outer);
        self.known.push((name, None));
        Ok(Ends::at(from))
    }

    fn command(&mut self, node: Node<'_>, from: &Folders) -> Result<Ends> {
        let mut words = Vec::new();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => self.passed(child)?,
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
                [to] => Ok(Ends { good: from.changed(to)?, bad: from.clone() }),
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
            return Err(name.doubt("is no program that is known"));
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

    /// `bash -c 'a line'`.
    fn shell(&mut self, name: &Word<'a>, words: &[Word<'a>], folders: &Folders) -> Result<()> {
        let is_bash = name.text.rsplit('/').next() == Some("bash");
        let (line, flags) = match words {
            [flags, line] => (line, flags.literal()?),
            [option, value, flags, line]
                if is_bash && option.text == "-o" && value.text == "pipefail" =>
            {
                (line, flags.literal()?)
            }
            _ => return Err(name.doubt("is known with `-c` and a line only")),
        };
        let letters = flags.strip_prefix('-').and_then(|it| it.strip_suffix('c'));
        if !letters.is_some_and(|it| it.chars().all(|it| matches!(it, 'e' | 'u' | 'x'))) {
            return Err(words[0].doubt("is not known of this program"));
        }
        let text = line.literal()?;
        // Other shells read these otherwise.
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

    /// `NAME=value` before a command.
    fn passed(&mut self, node: Node<'_>) -> Result<()> {
        let (name, value) = self.assignment(node)?;
        self.assigned(name, &value.text, node.byte_range())
    }

    /// `NAME=value` as a statement: from there on the value is known.
    fn set(&mut self, node: Node<'_>) -> Result<()> {
        let (name, value) = self.assignment(node)?;
        self.assigned(name, &value.text, node.byte_range())?;
        if self.is_loop {
            return self.doubt(node, "is set anew in a loop");
        }
        self.known.push((name, Some(value)));
        Ok(())
    }

    /// `export NAME=value`.
    fn declared(&mut self, node: Node<'_>) -> Result<()> {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "export" => {}
                "variable_assignment" => self.set(child)?,
                _ => return self.doubt(child, "is not understood here"),
            }
        }
        Ok(())
    }

    fn assignment(&self, node: Node<'_>) -> Result<(&'a str, Word<'a>)> {
        let mut cursor = node.walk();
        let (mut name, mut value) = (None, None);
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_name" => name = Some(self.text(child)),
                "=" => {}
                _ if value.is_none() => value = Some(self.word(child)?),
                _ => return self.doubt(child, "is not understood here"),
            }
        }
        let nothing = || Word { text: "".into(), kind: Kind::Literal, range: node.byte_range() };
        let (Some(name), value) = (name, value.unwrap_or_else(nothing)) else {
            return self.doubt(node, "is not understood");
        };
        let is_plain = value.kind == Kind::Literal && !value.text.contains(['~', '`', '$']);
        match is_plain {
            true => Ok((name, value)),
            false => Err(value.doubt("is a value that is not known exactly")),
        }
    }

    /// Whether a variable may be set: no program takes it for code, or for a place.
    fn assigned(&self, name: &str, value: &str, range: Range<usize>) -> Result<()> {
        // What programs see may name a file: `TZ=/etc/x`, `LANG=../x`.
        let is_seen = name.starts_with(|it: char| it.is_ascii_uppercase());
        let is_place = value.starts_with(['/', ':', '.', '~'])
            || value.contains("..")
            || (name.starts_with(['L', 'T']) && name != "TZ" && value.contains('/'));
        let has_more = value.contains(['$', '`', '\\']);
        let is_plain = !(has_more || is_seen && is_place);
        match self.table.is_harmless(name) && is_plain {
            true => Ok(()),
            false => Err(Doubt { reason: "sets a variable that a program may obey".into(), range }),
        }
    }

    /// A file, a descriptor or a text that a command reads from, or `/dev/null`.
    fn redirect(&mut self, node: Node<'_>, folders: &Folders) -> Result<()> {
        if node.kind() == "heredoc_redirect" {
            return self.heredoc(node, folders);
        }
        let mut cursor = node.walk();
        let (mut operator, mut target) = (None, None);
        for child in node.children(&mut cursor) {
            match child.kind() {
                "file_descriptor" => {}
                kind if !child.is_named() && operator.is_none() => operator = Some(kind),
                _ if target.is_none() => target = Some(self.word(child)?),
                _ => return self.doubt(child, "is not understood here"),
            }
        }
        let (Some(operator), Some(target)) = (operator, target) else {
            return self.doubt(node, "is not understood");
        };
        let text = target.literal()?;
        let is_number = matches!(text, "0" | "1" | "2" | "-");
        let is_nothing = paths::is_nothing(text);
        match operator {
            "<<<" => Ok(()),
            "<" => self.file(&target, folders, true),
            ">&" | "<&" if is_number => Ok(()),
            ">" | ">>" | ">|" if is_nothing => Ok(()),
            "&>" | "&>>" if is_nothing && self.is_bash => Ok(()),
            _ => self.doubt(node, "writes a file"),
        }
    }

    /// A text that stands in the line; where it ends is looked at with the tree.
    fn heredoc(&mut self, node: Node<'_>, folders: &Folders) -> Result<()> {
        let mut cursor = node.walk();
        let mut is_quoted = false;
        for child in node.children(&mut cursor) {
            match child.kind() {
                "<<" | "<<-" | "heredoc_end" | "file_descriptor" => {}
                "heredoc_start" => is_quoted = self.text(child).starts_with(['\'', '"']),
                // `cat <<EOF | grep a`
                "pipeline" => {
                    let mut cursor = child.walk();
                    for next in child.children(&mut cursor).filter(|it| it.kind() != "|") {
                        self.apart(|it| it.statement(next, folders))?;
                    }
                }
                "heredoc_body" => {
                    let text = self.text(child);
                    if !is_quoted && text.contains(['$', '`', '\\']) {
                        return self.doubt(child, "is expanded");
                    }
                }
                _ => return self.doubt(child, "is not understood here"),
            }
        }
        Ok(())
    }
}
