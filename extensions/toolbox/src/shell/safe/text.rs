//! Computes the text of a word, if it is known exactly.

use std::borrow::Cow;

use tree_sitter::Node;

use super::arguments::{Kind, Word};
use super::{Prover, Result};
use crate::shell::ansi;

impl<'a> Prover<'a, '_> {
    /// Returns a word. Its text is known if it is literal after the quotes are removed, a pattern of files, or a
    /// variable with a known value.
    pub(super) fn word(&self, node: Node<'_>) -> Result<Word<'a>> {
        let mut text = Piece::default();
        self.piece(node, &mut text)?;
        // The form `{NAME}<file` would set a variable.
        let names = text.unquoted.starts_with('{') && text.unquoted != "{}";
        if names || is_braces(&text.unquoted) {
            return self.doubt(node, "is a list in braces");
        }
        if text.unquoted.starts_with('~') {
            return self.doubt(node, "is expanded to a folder");
        }
        let kind = if text.is_pattern { Kind::Pattern } else { Kind::Literal };
        Ok(Word { text: text.text, kind, range: node.byte_range() })
    }

    fn piece(&self, node: Node<'_>, into: &mut Piece<'a>) -> Result<()> {
        let written = self.text(node);
        match node.kind() {
            "command_name" => match node.child(0).filter(|_| node.child_count() == 1) {
                Some(inside) => return self.piece(inside, into),
                None => return self.doubt(node, "is not understood"),
            },
            "word" | "number" if node.child_count() == 0 => match bare(written, into) {
                true => {}
                false => return self.doubt(node, "has a letter that is not understood"),
            },
            "variable_name" if node.child_count() == 0 => match bare(written, into) {
                true => {}
                false => return self.doubt(node, "has a letter that is not understood"),
            },
            "raw_string" => {
                let inside = written.strip_prefix('\'').and_then(|it| it.strip_suffix('\''));
                match inside {
                    Some(inside) => into.push_quoted(Cow::Borrowed(inside)),
                    None => return self.doubt(node, "is not understood"),
                }
            }
            "ansi_c_string" if self.is_bash => {
                let inside = written.strip_prefix("$'").and_then(|it| it.strip_suffix('\''));
                match inside.and_then(ansi::decode) {
                    Some(text) => into.push_quoted(Cow::Owned(text)),
                    None => return self.doubt(node, "is not understood"),
                }
            }
            "string" => self.string(node, into)?,
            "concatenation" => {
                let mut cursor = node.walk();
                let mut end = node.start_byte();
                for child in node.children(&mut cursor) {
                    // All pieces of one word are adjacent, so a gap is an error of the parser.
                    if child.start_byte() != end {
                        return self.doubt(node, "is not understood");
                    }
                    end = child.end_byte();
                    match child.kind() {
                        "{" | "}" => {
                            into.unquoted.push_str(child.kind());
                            into.push(Cow::Borrowed(self.text(child)));
                        }
                        _ => self.piece(child, into)?,
                    }
                }
            }
            "simple_expansion" | "expansion" => {
                let value = self.value(node)?;
                let is_whole = value.kind == Kind::Literal
                    && !value.text.is_empty()
                    && !value.text.contains(|it: char| {
                        it.is_whitespace() || matches!(it, '*' | '?' | '[' | '\\')
                    });
                if !is_whole {
                    return self
                        .doubt(node, "is split and expanded again, because it is not quoted");
                }
                into.push_quoted(value.text);
            }
            _ => return self.doubt(node, "is expanded to a text that is not known"),
        }
        Ok(())
    }

    /// Returns the value of `$NAME` or `${NAME}`.
    fn value(&self, node: Node<'_>) -> Result<Word<'a>> {
        let name = self.text(node).strip_prefix('$').unwrap_or_default();
        let name = name.strip_prefix('{').and_then(|it| it.strip_suffix('}')).unwrap_or(name);
        let known = self.known.iter().rev().find(|it| it.0 == name);
        match known.and_then(|it| it.1.clone()) {
            Some(value) => Ok(value),
            None => self.doubt(node, "is a variable whose value is not known"),
        }
    }

    /// Adds a text between double quotes.
    fn string(&self, node: Node<'_>, into: &mut Piece<'a>) -> Result<()> {
        let end = node.end_byte().saturating_sub(1);
        let mut at = node.start_byte() + 1;
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "string_content" => {}
                "simple_expansion" | "expansion" => {
                    self.plain(node, at..child.start_byte(), into)?;
                    let value = self.value(child)?;
                    into.is_pattern |= value.kind == Kind::Pattern;
                    into.push_quoted(value.text);
                    at = child.end_byte();
                }
                _ => return self.doubt(child, "is expanded to a text that is not known"),
            }
        }
        self.plain(node, at..end, into)
    }

    /// Adds literal text between double quotes.
    fn plain(
        &self,
        node: Node<'_>,
        range: std::ops::Range<usize>,
        into: &mut Piece<'a>,
    ) -> Result<()> {
        let Some(inside) = self.source.get(range) else {
            return self.doubt(node, "is not understood");
        };
        if !inside.contains(['\\', '$', '`']) {
            into.push_quoted(Cow::Borrowed(inside));
            return Ok(());
        }
        let mut text = String::with_capacity(inside.len());
        let mut letters = inside.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => match letters.peek() {
                    Some('$' | '`' | '"' | '\\') => text.extend(letters.next()),
                    Some('\n') => return self.doubt(node, "is continued on another line"),
                    _ => text.push('\\'),
                },
                '`' => return self.doubt(node, "is expanded to a text that is not known"),
                '$' if letters.peek().is_some_and(|it| {
                    !matches!(it, ' ' | '/' | '.' | ',' | ':' | ';' | '%' | '|' | ')' | '^')
                }) =>
                {
                    return self.doubt(node, "is expanded to a text that is not known");
                }
                letter => text.push(letter),
            }
        }
        into.push_quoted(Cow::Owned(text));
        Ok(())
    }
}

/// The part of a word that has been read so far.
#[derive(Default)]
struct Piece<'a> {
    text: Cow<'a, str>,
    /// The unquoted text, in which a quote mark replaces each quoted part.
    unquoted: String,
    is_pattern: bool,
}

impl<'a> Piece<'a> {
    fn push(&mut self, text: Cow<'a, str>) {
        if self.text.is_empty() {
            self.text = text;
        } else {
            self.text.to_mut().push_str(&text);
        }
    }

    fn push_quoted(&mut self, text: Cow<'a, str>) {
        self.unquoted.push('\'');
        self.push(text);
    }
}

/// Adds the text of an unquoted word. Returns `false` if a character is not understood.
fn bare<'a>(written: &'a str, into: &mut Piece<'a>) -> bool {
    let is_plain =
        written.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-./,:=+@%".contains(&it));
    if is_plain {
        if into.text.is_empty() {
            // Later checks need only the first character, braces and commas.
            into.unquoted.push_str(if written.contains(',') || written.contains("..") {
                written
            } else {
                "x"
            });
        } else {
            into.unquoted.push_str(written);
        }
        into.push(Cow::Borrowed(written));
        return true;
    }
    let mut text = String::with_capacity(written.len());
    let mut letters = written.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                None | Some('\n') => return false,
                Some(escaped) => {
                    text.push(escaped);
                    into.unquoted.push('\'');
                }
            },
            '*' | '?' | '[' => {
                into.is_pattern = true;
                text.push(letter);
                into.unquoted.push(letter);
            }
            '_' | '-' | '.' | '/' | ',' | ':' | '=' | '+' | '@' | '%' | '^' | '#' | '~' | ']'
            | '{' | '}' | '!' => {
                text.push(letter);
                into.unquoted.push(letter);
            }
            letter if letter.is_alphanumeric() => {
                text.push(letter);
                into.unquoted.push(letter);
            }
            _ => return false,
        }
    }
    into.push(Cow::Owned(text));
    true
}

/// Returns whether the shell may expand the text to several words, as `{a,b}` or `{1..3}`. Text after the last brace
/// does not matter.
fn is_braces(unquoted: &str) -> bool {
    let inside = unquoted.find('{').zip(unquoted.rfind('}'));
    inside.is_some_and(|(from, to)| {
        let list = unquoted.get(from..to).unwrap_or_default();
        list.contains(',') || list.contains("..")
    })
}
