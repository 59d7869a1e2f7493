//! The text of one word of a command, if it is known before the command runs.

use tree_sitter::Node;

use super::ansi;

/// A word of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// The text of the word without quotes and escapes; `None` if only the shell knows it at run time.
    pub(super) text: Option<String>,
    /// Whether the word has an unquoted `*`, `?` or `[`, so that the shell may replace it with names of files.
    pub(super) is_pattern: bool,
    /// The name of the variable if the whole word is one.
    pub(super) variable: Option<String>,
    /// Whether the whole word is quoted, so that the shell does not split it.
    pub(super) is_quoted: bool,
}

impl Word {
    pub(super) fn literal(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    pub(super) fn unknown() -> Self {
        Self::default()
    }

    /// Makes a word from its node in the syntax tree.
    pub(super) fn read(node: Node<'_>, source: &str) -> Self {
        let written = &source[node.byte_range()];
        match node.kind() {
            "command_name" => match node.child(0) {
                Some(inside) => Self::read(inside, source),
                None => Self::unknown(),
            },
            "word" | "number" | "variable_name" | "special_variable_name" => bare(written),
            "raw_string" => {
                let inside = written.strip_prefix('\'').and_then(|it| it.strip_suffix('\''));
                Self { text: inside.map(str::to_owned), is_quoted: true, ..Self::default() }
            }
            "ansi_c_string" => {
                let inside = written.strip_prefix("$'").and_then(|it| it.strip_suffix('\''));
                Self { text: inside.and_then(ansi::decode), is_quoted: true, ..Self::default() }
            }
            "string" => string(node, source),
            "translated_string" => {
                let inside = node.named_child(0);
                inside.map_or_else(Self::unknown, |it| Self::read(it, source))
            }
            "concatenation" => concatenation(node, source),
            "simple_expansion" | "expansion" => {
                Self { variable: variable(written), text: folder(written), ..Self::default() }
            }
            "$" => Self::literal("$"),
            _ => Self::unknown(),
        }
    }
}

/// Returns the name in `$NAME` or `${NAME}`.
fn variable(written: &str) -> Option<String> {
    let name = written.strip_prefix('$')?;
    let name = name.strip_prefix('{').and_then(|it| it.strip_suffix('}')).unwrap_or(name);
    let is_name = !name.is_empty()
        && !name.starts_with(|it: char| it.is_ascii_digit())
        && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    is_name.then(|| name.to_owned())
}

/// Returns `~` for `$HOME` and `.` for `$PWD`; `None` for any other variable.
fn folder(written: &str) -> Option<String> {
    match variable(written)?.as_str() {
        "HOME" => Some("~".to_owned()),
        "PWD" => Some(".".to_owned()),
        _ => None,
    }
}

/// Makes a word from a text without quotes.
fn bare(written: &str) -> Word {
    if !written.contains(['\\', '*', '?', '[', '{']) {
        return Word::literal(written);
    }
    let (mut text, mut is_pattern) = (String::with_capacity(written.len()), false);
    let mut letters = written.chars();
    let mut unquoted = String::new();
    while let Some(letter) = letters.next() {
        if letter == '\\' {
            match letters.next() {
                // A backslash at the end of a line joins the next line.
                Some('\n') | None => {}
                Some(escaped) => text.push(escaped),
            }
            continue;
        }
        is_pattern |= matches!(letter, '*' | '?' | '[');
        unquoted.push(letter);
        text.push(letter);
    }
    if is_brace_expansion(&unquoted) {
        return Word::unknown();
    }
    Word { text: Some(text), is_pattern, ..Word::default() }
}

/// Returns whether the shell expands the text to several words, as `{a,b}` or `{1..3}`.
fn is_brace_expansion(unquoted: &str) -> bool {
    let opened = unquoted.find('{');
    let closed = unquoted.rfind('}');
    let inside = opened.zip(closed).filter(|(from, to)| from < to);
    inside.is_some_and(|(from, to)| {
        unquoted[from..to].contains(',') || unquoted[from..to].contains("..")
    })
}

fn string(node: Node<'_>, source: &str) -> Word {
    let mut cursor = node.walk();
    let mut variables = Vec::new();
    for child in node.named_children(&mut cursor) {
        if child.kind() != "string_content" {
            variables.push(child);
        }
    }
    let range = node.start_byte() + 1..node.end_byte().saturating_sub(1);
    let Some(inside) = source.get(range.clone()) else { return Word::unknown() };
    if let [only] = variables[..]
        && only.byte_range() == range
    {
        let written = &source[only.byte_range()];
        let (variable, text) = (variable(written), folder(written));
        return Word { variable, text, is_quoted: true, ..Word::default() };
    }
    let (mut text, mut from) = (String::with_capacity(inside.len()), range.start);
    for it in variables {
        let Some(folder) = folder(&source[it.byte_range()]) else {
            return Word { is_quoted: true, ..Word::default() };
        };
        let Some(before) = source.get(from..it.start_byte()) else { return Word::unknown() };
        unescape(before, &mut text);
        text.push_str(&folder);
        from = it.end_byte();
    }
    let Some(rest) = source.get(from..range.end) else { return Word::unknown() };
    unescape(rest, &mut text);
    Word { text: Some(text), is_quoted: true, ..Word::default() }
}

/// Appends the text between double quotes, without escapes.
fn unescape(inside: &str, text: &mut String) {
    let mut letters = inside.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\\'
            && letters.peek().is_some_and(|it| matches!(it, '$' | '`' | '"' | '\\' | '\n'))
        {
            let escaped = letters.next().filter(|it| *it != '\n');
            text.extend(escaped);
            continue;
        }
        text.push(letter);
    }
}

fn concatenation(node: Node<'_>, source: &str) -> Word {
    let mut cursor = node.walk();
    let mut text = Some(String::new());
    let (mut is_pattern, mut unquoted) = (false, String::new());
    let mut end = node.start_byte();
    for child in node.children(&mut cursor) {
        // All pieces of one word are adjacent, so a gap is an error of the parser.
        if child.start_byte() != end {
            return Word::unknown();
        }
        end = child.end_byte();
        let piece = Word::read(child, source);
        is_pattern |= piece.is_pattern;
        if matches!(child.kind(), "word" | "{" | "}") {
            unquoted.push_str(&source[child.byte_range()]);
        } else {
            unquoted.push('\'');
        }
        text = text.zip(piece.text).map(|(text, piece)| text + &piece);
    }
    if is_brace_expansion(&unquoted) {
        return Word::unknown();
    }
    Word { text, is_pattern, ..Word::default() }
}
