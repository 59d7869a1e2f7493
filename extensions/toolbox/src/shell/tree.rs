//! Parses a text with tree-sitter, and finds its simple commands.
//!
//! The grammar recovers from errors, and parses some texts differently than bash. So each tree is checked against the
//! text: any part that may be parsed wrongly is refused, never guessed.

use std::cell::RefCell;
use std::ops::{ControlFlow, Range};
use std::rc::Rc;

use tree_sitter::{Node, ParseOptions, Parser, Tree};

use super::word::Word;

/// The maximum length of a text that is parsed: 64 KiB.
const LONGEST: usize = 64 * 1024;

/// How deeply the parts of a text may be nested.
const DEEPEST: usize = 200;

/// The maximum work of the parser, as a number of progress reports. The parser reports once every hundred steps.
const MOST_WORK: usize = 2_000;

/// The maximum number of commands, files and variables.
pub(super) const MOST_PARTS: usize = 4096;

/// The maximum number of nodes in a tree.
const MOST_NODES: usize = 6 * MOST_PARTS;

/// The parts that were found in a text.
#[derive(Debug, Default)]
pub(super) struct ParsedText {
    pub(super) commands: Vec<Raw>,
    pub(super) assignments: Vec<Assignment>,
    pub(super) redirects: Vec<Redirect>,
    /// The functions that are defined at the top level, each with the end of its definition.
    pub(super) functions: Vec<(String, usize)>,
    pub(super) refusals: Vec<(&'static str, Range<usize>)>,
    /// The syntax tree.
    pub(super) tree: Option<Tree>,
}

impl ParsedText {
    fn count(&self) -> usize {
        self.commands.len() + self.assignments.len() + self.redirects.len() + self.refusals.len()
    }
}

/// A simple command, as written.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) words: Vec<Word>,
    pub(super) range: Range<usize>,
    /// The functions whose definitions contain the command.
    pub(super) inside: Rc<[String]>,
}

/// An assignment `NAME=value`.
#[derive(Debug)]
pub(super) struct Assignment {
    pub(super) name: String,
    pub(super) value: Word,
    /// Whether the assignment is a top-level statement, so that it applies to all following commands.
    pub(super) holds: bool,
    pub(super) range: Range<usize>,
}

/// A file that the shell opens for a redirection.
#[derive(Debug)]
pub(super) struct Redirect {
    pub(super) is_write: bool,
    pub(super) target: Word,
    pub(super) range: Range<usize>,
}

/// Parses a text and finds its simple commands.
pub(super) fn find(source: &str) -> ParsedText {
    let mut found = ParsedText::default();
    let all = 0..source.len();
    if let Some(problem) = unreadable(source) {
        found.refusals.push((problem, all));
        return found;
    }
    let Some(tree) = parse(source) else {
        found.refusals.push(("it is too much to parse", all));
        return found;
    };
    if tree.root_node().descendant_count() > MOST_NODES {
        found.refusals.push(("it has too many parts to be read", all));
        return found;
    }
    Walk { source, found: &mut found }.walk(&tree);
    found.tree = Some(tree);
    found
}

fn unreadable(source: &str) -> Option<&'static str> {
    if source.len() > LONGEST {
        return Some("it is longer than 64 KiB");
    }
    if has_too_many_words(source) {
        return Some("it has too many parts to be read");
    }
    let hides = |it: char| {
        (it.is_control() && it != '\n' && it != '\t')
            || matches!(it, '\u{ad}' | '\u{200b}' | '\u{200c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    if source.contains(hides) {
        return Some("it has a control character or an invisible one");
    }
    let joins = source.match_indices("\\\n").any(|(at, _)| {
        let before = source[..at].chars().next_back();
        let after = source[at + 2..].chars().next();
        let is_letter = |it: Option<char>| it.is_some_and(|it| !it.is_whitespace());
        is_letter(before) && is_letter(after)
    });
    joins.then_some("a line is continued within a word")
}

/// Returns whether a text has too many words and operators. This is checked before the parser allocates memory for each
/// of them. The text of a here-document counts as one part, so a text with a here-document is left to the parser's own
/// limit.
fn has_too_many_words(source: &str) -> bool {
    if source.len() <= MOST_PARTS || source.contains("<<") {
        return false;
    }
    let (mut count, mut is_blank, mut is_quoted) = (0, true, false);
    for byte in source.bytes() {
        is_quoted ^= byte == b'\'';
        let is_sign = !is_quoted && b"();&|<>$`\n{".contains(&byte);
        let begins = is_blank && !byte.is_ascii_whitespace() && !is_quoted;
        is_blank = byte.is_ascii_whitespace();
        count += usize::from(is_sign || begins || byte == b'\'');
    }
    count > MOST_PARTS
}

fn parse(source: &str) -> Option<Tree> {
    thread_local! {
        static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
    }
    PARSER.with_borrow_mut(|parser| {
        parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
        parser.reset();
        let mut work = 0;
        let mut progress = |_: &tree_sitter::ParseState| {
            work += 1;
            if work > MOST_WORK { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let bytes = source.as_bytes();
        let mut read = |at: usize, _| bytes.get(at..).unwrap_or_default();
        parser.parse_with_options(&mut read, None, Some(options))
    })
}

/// A node to be visited, its parent, the functions whose definitions contain it, and its depth.
type Open<'t> = (Node<'t>, Option<Node<'t>>, Rc<[String]>, usize);

struct Walk<'s, 'f> {
    source: &'s str,
    found: &'f mut ParsedText,
}

/// Reserved words, which cannot be names of commands.
const RESERVED: [&str; 21] = [
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for",
    "function", "select", "in", "{", "}", "[[", "]]", "!", "coproc",
];

impl<'s> Walk<'s, '_> {
    fn walk(&mut self, tree: &Tree) {
        // Iterate instead of calling recursively, so that deep nesting cannot overflow the stack.
        let mut open: Vec<Open<'_>> = vec![(tree.root_node(), None, Rc::<[String]>::from([]), 0)];
        let mut children = Vec::new();
        while let Some((node, parent, mut inside, depth)) = open.pop() {
            if depth > DEEPEST {
                return self.refuse("it is nested too deeply", node);
            }
            if self.found.count() > MOST_PARTS {
                return self.refuse("it has more than 4096 parts", node);
            }
            if node.is_error() || node.is_missing() {
                self.refuse("it is not written as a shell reads it", node);
                continue;
            }
            self.look(node, parent, &inside);
            if node.kind() == "function_definition"
                && let Some(name) = node.child_by_field_name("name")
            {
                let name = self.text(name).to_owned();
                inside = inside.iter().cloned().chain([name]).collect();
            }
            let mut cursor = node.walk();
            children.extend(node.children(&mut cursor));
            let children = children.drain(..).rev();
            open.extend(children.map(|child| (child, Some(node), Rc::clone(&inside), depth + 1)));
        }
    }

    fn text(&self, node: Node<'_>) -> &'s str {
        &self.source[node.byte_range()]
    }

    fn refuse(&mut self, why: &'static str, node: Node<'_>) {
        self.found.refusals.push((why, node.byte_range()));
    }

    fn look(&mut self, node: Node<'_>, parent: Option<Node<'_>>, inside: &Rc<[String]>) {
        match node.kind() {
            "command" => self.command(node, inside),
            "declaration_command" | "unset_command" => {
                let words = self.text(node).split_whitespace().next().map(Word::literal);
                let mut words: Vec<Word> = words.into_iter().collect();
                let mut cursor = node.walk();
                for child in node.named_children(&mut cursor) {
                    words.push(match child.kind() {
                        // The assigned value is a node of its own, which is visited separately.
                        "variable_assignment" => continue,
                        _ => Word::read(child, self.source),
                    });
                }
                self.add(words, node, inside);
            }
            "test_command" => self.add(vec![Word::literal("[")], node, inside),
            "variable_assignment" => self.assignment(node, parent),
            "for_statement" => {
                if let Some(name) = node.child_by_field_name("variable") {
                    let (name, range) = (self.text(name).to_owned(), node.byte_range());
                    let value = Word::unknown();
                    self.found.assignments.push(Assignment { name, value, holds: false, range });
                }
            }
            "function_definition" => {
                let is_first = parent.is_some_and(|it| it.kind() == "program");
                if let Some(name) = node.child_by_field_name("name").filter(|_| is_first) {
                    self.found.functions.push((self.text(name).to_owned(), node.end_byte()));
                }
            }
            "redirected_statement" => self.read_redirects(node, inside),
            "file_redirect" => self.redirect(node),
            "heredoc_redirect" => self.heredoc(node),
            "comment" => {
                let before = self.source[..node.start_byte()].chars().next_back();
                let begins =
                    |it: char| it.is_whitespace() || matches!(it, ';' | '&' | '|' | '(' | ')');
                if !before.is_none_or(begins) {
                    self.refuse("a comment begins within a word", node);
                }
            }
            "command_substitution" if self.text(node).starts_with(['`', '$']) => {
                let text = self.text(node);
                if !text.starts_with("$(") && text.contains('\\') {
                    self.refuse("there is a backslash within backquotes", node);
                }
            }
            "expansion" if self.text(node).contains("@P") => {
                self.refuse("a variable is expanded as a prompt, which runs what it holds", node);
            }
            "ansi_c_string" if Word::read(node, self.source).text.is_none() => {
                self.refuse("a `$'…'` cannot be read", node);
            }
            _ if node.child_count() == 0 => self.leaf(node, parent),
            _ => {}
        }
    }

    /// Refuses a text that the parser takes for plain text, although it could run a command.
    fn leaf(&mut self, node: Node<'_>, parent: Option<Node<'_>>) {
        let text = self.text(node);
        let parent = parent.map_or("", |it| it.kind());
        let is_plain = match node.kind() {
            "raw_string" => return,
            // The body of a here-document with a quoted delimiter runs nothing.
            "heredoc_body" => return,
            "word" | "string_content" | "regex" | "extglob_pattern" | "heredoc_content" => {
                !runs_code(text)
            }
            _ => true,
        };
        let is_pattern = matches!(node.kind(), "regex" | "extglob_pattern");
        if !is_plain || (is_pattern && parent != "expansion" && text.contains(['\n', ';'])) {
            self.refuse("it may run a command where the parser sees text", node);
        }
        if node.kind() == "word" && text.contains("\\`") {
            self.refuse("it has an escaped backquote", node);
        }
    }

    fn command(&mut self, node: Node<'_>, inside: &Rc<[String]>) {
        let (mut words, mut is_named) = (Vec::new(), false);
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => {}
                "file_redirect" => {
                    if !is_named && destinations(child).count() > 1 {
                        self.refuse("the parser takes a command for a file", child);
                    }
                    words.extend(destinations(child).skip(1).map(|it| Word::read(it, self.source)));
                }
                "herestring_redirect" => {}
                "command_name" => {
                    is_named = true;
                    words.push(Word::read(child, self.source));
                }
                "subshell" | "=~" | "==" => {
                    self.refuse("it is not written as a shell reads it", child)
                }
                _ => words.push(Word::read(child, self.source)),
            }
        }
        let first = words.first().and_then(|it| it.text.as_deref());
        if first.is_some_and(|it| RESERVED.contains(&it)) && !words[0].is_quoted {
            self.refuse("it is not written as a shell reads it", node);
        }
        self.add(words, node, inside);
    }

    fn add(&mut self, words: Vec<Word>, node: Node<'_>, inside: &Rc<[String]>) {
        let (range, inside) = (node.byte_range(), Rc::clone(inside));
        self.found.commands.push(Raw { words, range, inside });
    }

    fn assignment(&mut self, node: Node<'_>, parent: Option<Node<'_>>) {
        let name = node.child_by_field_name("name").map(|it| self.text(it).to_owned());
        // In `IFS=, read a b`, the variable affects only how `read` splits its input.
        let command = parent.and_then(|it| it.child_by_field_name("name"));
        if name.as_deref() == Some("IFS") && command.is_some_and(|it| self.text(it) == "read") {
            return;
        }
        let value = match node.child_by_field_name("value") {
            None => Word::literal(""),
            Some(value) => Word::read(value, self.source),
        };
        let holds =
            parent.is_some_and(|it| it.kind() == "program") && !self.text(node).contains("+=");
        let (name, range) = (name.unwrap_or_default(), node.byte_range());
        self.found.assignments.push(Assignment { name, value, holds, range });
    }

    /// Corrects a redirection: the grammar takes all words after `>` for file names, but only the first one is. The
    /// others are arguments.
    fn read_redirects(&mut self, node: Node<'_>, inside: &Rc<[String]>) {
        let mut cursor = node.walk();
        let redirects = node.children_by_field_name("redirect", &mut cursor);
        let mut more = Vec::new();
        for redirect in redirects {
            match redirect.kind() {
                "file_redirect" => more.extend(destinations(redirect).skip(1)),
                "heredoc_redirect" => {
                    let mut cursor = redirect.walk();
                    more.extend(
                        redirect
                            .children_by_field_name("argument", &mut cursor)
                            .collect::<Vec<_>>(),
                    );
                }
                _ => {}
            }
        }
        if more.is_empty() {
            return;
        }
        let Some(body) = node.child_by_field_name("body").filter(|it| it.kind() == "command")
        else {
            return self.refuse("the parser takes a command for a file", node);
        };
        // Add the command with these words as arguments. The parser's version without them is rated as well.
        let mut words = Vec::new();
        let mut cursor = body.walk();
        for child in body.children(&mut cursor) {
            if !matches!(
                child.kind(),
                "variable_assignment" | "file_redirect" | "herestring_redirect"
            ) {
                words.push(Word::read(child, self.source));
            }
        }
        words.extend(more.into_iter().map(|it| Word::read(it, self.source)));
        self.add(words, node, inside);
    }

    fn redirect(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let operator = node.children(&mut cursor).find(|it| !it.is_named());
        let operator = operator.map_or("", |it| it.kind());
        let Some(target) = destinations(node).next() else { return };
        let target = Word::read(target, self.source);
        let is_descriptor = operator.ends_with('&')
            && target
                .text
                .as_deref()
                .is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit() || it == b'-'));
        if is_descriptor {
            return;
        }
        let (is_write, range) = (operator.contains('>'), node.byte_range());
        self.found.redirects.push(Redirect { is_write, target, range });
    }

    /// Verifies the end of a here-document independently, since the end decides which text is data and which runs.
    fn heredoc(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        let child = |kind: &str| children.iter().find(|it| it.kind() == kind).copied();
        let (Some(start), Some(body), Some(end)) =
            (child("heredoc_start"), child("heredoc_body"), child("heredoc_end"))
        else {
            return self.refuse("a here-document has no end", node);
        };
        let written = self.text(start);
        let name = written.trim_matches(['\'', '"']);
        let is_plain = !name.is_empty()
            && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
            && [name.to_owned(), format!("'{name}'"), format!("\"{name}\"")]
                .iter()
                .any(|it| it == written);
        let strips = child("<<-").is_some();
        let line =
            |it: &str| if strips { it.trim_start_matches('\t').to_owned() } else { it.to_owned() };
        let text = self.text(body);
        let ends_early = text.lines().any(|it| line(it) == name);
        let after = self.source[end.end_byte()..].chars().next();
        let before = self.source[..end.start_byte()].rsplit('\n').next().unwrap_or_default();
        let is_alone = after.is_none_or(|it| it == '\n') && line(before).is_empty();
        let is_quoted = written != name;
        if !is_quoted && !is_read_whole(body, self.source) {
            self.refuse("it may run a command where the parser sees text", body);
        }
        if !is_plain || ends_early || !is_alone || self.text(end).trim_start_matches('\t') != name {
            self.refuse("where a here-document ends is not certain", node);
        }
    }
}

/// Returns whether the parser has found all commands in a here-document.
fn is_read_whole(body: Node<'_>, source: &str) -> bool {
    let mut cursor = body.walk();
    let mut at = body.start_byte();
    let mut text = String::new();
    for child in body.children(&mut cursor).filter(|it| it.kind() != "heredoc_content") {
        text.push_str(source.get(at..child.start_byte()).unwrap_or_default());
        at = child.end_byte();
    }
    text.push_str(source.get(at..body.end_byte()).unwrap_or_default());
    !runs_code(&text)
}

/// Returns whether a text contains the unescaped beginning of a command substitution.
fn runs_code(text: &str) -> bool {
    let has = |text: &str| text.contains("$(") || text.contains('`');
    if !text.contains('\\') {
        return has(text);
    }
    has(&text.replace("\\\\", "").replace("\\$", "").replace("\\`", ""))
}

fn destinations(redirect: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut cursor = redirect.walk();
    redirect.children_by_field_name("destination", &mut cursor).collect::<Vec<_>>().into_iter()
}
