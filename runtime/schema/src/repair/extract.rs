//! Finds the input in a text that is not plain JSON. The text may have code fences, tags, the notation of a call or
//! prose around the input, or may repeat it.
//!
//! - Text is skipped only if it contains no square or curly brackets and no key with a value, so that no part of the
//!   input is dropped.
//! - A text with two different inputs is refused, and so is a call of another tool.
//! - The text is read a fixed number of times.

use super::prose::{IsKey, ends_in_key, is_words};
use super::tool_name::ToolName;
use toolwright_core::json::parse::{Break, ParsedValue, Parser, Uses, parse, parse_closing};
use toolwright_core::json::tree::Node;
use toolwright_core::repairs::ChangeRule;

/// The notations other than JSON in which a text may contain the input.
pub(super) const TEXT_RULES: &[ChangeRule] = &[
    ChangeRule::Python,
    ChangeRule::TrailingComma,
    ChangeRule::Comment,
    ChangeRule::BareKey,
    ChangeRule::ControlCharacter,
    ChangeRule::SmartQuote,
    ChangeRule::MissingBracket,
    ChangeRule::Fence,
    ChangeRule::Prose,
    ChangeRule::Tag,
    ChangeRule::Call,
    ChangeRule::Repeated,
    ChangeRule::NoArguments,
];

/// Why a text contains no input.
#[derive(Debug)]
pub(super) enum NoInput<'t> {
    Unreadable(Break),
    /// The text is a call of another tool, which has this name.
    OfAnother(&'t str),
}

impl From<Break> for NoInput<'_> {
    fn from(broken: Break) -> Self {
        Self::Unreadable(broken)
    }
}

/// Extracts the input from a text. An error about syntax describes the original text.
pub(super) fn extract<'t>(
    text: &'t str,
    may_close: bool,
    name: &ToolName,
    is_key: IsKey<'_>,
) -> Result<ParsedValue, NoInput<'t>> {
    let original = text;
    let text = text.trim_start_matches('\u{feff}').trim();
    let first = match parse(text) {
        Ok(mut parsed) => {
            // The text is valid JSON after `trim`. So it had characters around it that `trim` removes, but that are not
            // white space in JSON.
            if parsed.uses.is_empty() {
                parsed.uses.add(ChangeRule::Syntax);
            }
            return Ok(parsed);
        }
        Err(Break::Depth) => return Err(Break::Depth.into()),
        Err(first) => first,
    };
    let (inner, uses) = unwrap(text, is_key);
    let close = |text| if may_close { parse_closing(text).ok() } else { None };
    let mut found = (!uses.is_empty()).then(|| parse(inner).ok()).flatten();
    if found.is_none() {
        found = call(inner, name, is_key)?;
    }
    if found.is_none() {
        found = among_words(inner, name, is_key)?;
    }
    match found.or_else(|| close(inner)) {
        Some(parsed) => Ok(ParsedValue { uses: parsed.uses.and(uses), ..parsed }),
        None => {
            let (broken, part) = nearest_break(inner).unwrap_or((first, text));
            Err(in_original(broken, original, part).into())
        }
    }
}

/// Returns why the first object in the text could not be parsed, and the part of the text from that object on.
fn nearest_break(text: &str) -> Option<(Break, &str)> {
    let part = &text[text.find(['{', '['])?..];
    Parser::new(part, 0).value().err().map(|broken| (broken, part))
}

/// Returns a break in a part of the original text as a break in the original text.
fn in_original(broken: Break, original: &str, part: &str) -> Break {
    let start = part.as_ptr().addr().saturating_sub(original.as_ptr().addr());
    match broken {
        Break::Wanted(at, what) => Break::Wanted(at + start, what),
        other => other,
    }
}

/// Removes tags around the text, and then a Markdown code fence.
fn unwrap<'t>(text: &'t str, is_key: IsKey<'_>) -> (&'t str, Uses) {
    let mut uses = Uses::default();
    let mut inner = text;
    for name in ["tool_call", "function_call"] {
        if let Some((within, again)) = text_in_tags(inner, name, is_key) {
            uses.add(ChangeRule::Tag);
            if again {
                uses.add(ChangeRule::Repeated);
            }
            inner = within;
            break;
        }
    }
    if let Some(within) = text_in_code_block(inner, is_key) {
        uses.add(ChangeRule::Fence);
        inner = within;
    }
    (inner, uses)
}

/// Returns the text inside of the tags with this name, and whether the tags occur more than once. The last closing tag
/// may be missing.
fn text_in_tags<'t>(text: &'t str, name: &str, is_key: IsKey<'_>) -> Option<(&'t str, bool)> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let (before, mut rest) = text.split_once(&open)?;
    let mut words = is_words(before, is_key);
    let mut first: Option<&str> = None;
    let mut again = false;
    loop {
        let (inner, after) = rest.split_once(&close).unwrap_or((rest, ""));
        again |= first.is_some();
        if *first.get_or_insert(inner.trim()) != inner.trim() {
            return None;
        }
        let (between, next) = after.split_once(&open).unwrap_or((after, ""));
        words &= is_words(between, is_key);
        if after.len() == between.len() {
            break;
        }
        rest = next;
    }
    first.filter(|_| words).map(|inner| (inner, again))
}

/// Returns the text inside of the code block, if the text around it can be skipped.
fn text_in_code_block<'t>(text: &'t str, is_key: IsKey<'_>) -> Option<&'t str> {
    let (before, rest) = text.split_once("```")?;
    let (inner, after) = rest.rsplit_once("```")?;
    if !is_words(before, is_key) || !is_words(after, is_key) {
        return None;
    }
    let language = inner.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(0);
    let inner = match inner.as_bytes().get(language) {
        Some(b'\n' | b'\r' | b' ' | b'{') => &inner[language..],
        _ => inner,
    };
    Some(inner.trim())
}

/// Parses an object that has words around it or is repeated.
fn among_words<'t>(
    text: &'t str,
    name: &ToolName,
    is_key: IsKey<'_>,
) -> Result<Option<ParsedValue>, NoInput<'t>> {
    let Some(start) = text.find('{') else { return Ok(None) };
    let before = text[..start].trim_end();
    let call = open_call(before);
    // If the call already has arguments before the object, the object is not the whole input.
    if call.is_some_and(|(_, arguments)| !arguments.is_empty()) {
        return Ok(None);
    }
    let named = before.strip_suffix([':', '=']).unwrap_or(before);
    if !is_words(named, is_key) || (named.len() < before.len() && ends_in_key(named, is_key)) {
        return Ok(None);
    }
    let parsed = object_and_words(&text[start..], !before.is_empty(), is_key);
    match call {
        Some((called, _)) if parsed.is_some() && !name.is(called) => {
            Err(NoInput::OfAnother(called))
        }
        _ => Ok(parsed),
    }
}

/// Returns the name of the last call whose bracket is not closed in the text, and the text of its arguments.
fn open_call(text: &str) -> Option<(&str, &str)> {
    let mut closed = 0;
    let open = text.rfind(|letter: char| match letter {
        ')' => {
            closed += 1;
            false
        }
        '(' if closed > 0 => {
            closed -= 1;
            false
        }
        letter => letter == '(',
    })?;
    let (before, rest) = text.split_at(open);
    let called = name_at_end(before);
    called.starts_with(char::is_alphabetic).then_some((called, rest[1..].trim_start()))
}

/// Returns the name at the end of a text, such as the name of a function. It may be empty.
fn name_at_end(text: &str) -> &str {
    let is_name = |letter: char| letter.is_alphanumeric() || "_.-".contains(letter);
    &text[text.trim_end_matches(is_name).len()..]
}

fn object_and_words(text: &str, has_words: bool, is_key: IsKey<'_>) -> Option<ParsedValue> {
    let mut parser = Parser::new(text, 0);
    let node = parser.value().ok()?;
    let mut uses = Uses::default();
    if has_words {
        uses.add(ChangeRule::Prose);
    }
    let mut rest = parser.rest().trim_start();
    while rest.starts_with('{') {
        let mut again = Parser::new(rest, 0);
        if again.value().ok()? != node {
            return None;
        }
        uses.add(ChangeRule::Repeated);
        rest = again.rest().trim_start();
    }
    if !rest.is_empty() {
        uses.add(ChangeRule::Prose);
    }
    is_words(rest, is_key).then_some(ParsedValue {
        node,
        uses: uses.and(parser.uses),
        duplicates: parser.duplicates,
    })
}

/// Parses a call, `name(key=value, …)`. It may be in square brackets, have words around it, or be repeated.
fn call<'t>(
    text: &'t str,
    name: &ToolName,
    is_key: IsKey<'_>,
) -> Result<Option<ParsedValue>, NoInput<'t>> {
    let text = match text.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        Some(inner) => inner.trim(),
        None => text,
    };
    let Some(open) = text.find('(') else { return Ok(None) };
    let called = name_at_end(&text[..open]);
    let before = &text[..open - called.len()];
    if !called.starts_with(char::is_alphabetic) || !is_words(before, is_key) {
        return Ok(None);
    }
    match call_and_words(text, before, called, is_key) {
        Some(_) if !name.is(called) => Err(NoInput::OfAnother(called)),
        parsed => Ok(parsed),
    }
}

fn call_and_words(
    text: &str,
    before: &str,
    called: &str,
    is_key: IsKey<'_>,
) -> Option<ParsedValue> {
    let (mut parsed, mut rest) = arguments(text, before.len() + called.len())?;
    while let Some(again) = rest.trim_start().strip_prefix(called) {
        let (next, after) = arguments(again, 0)?;
        if next.node != parsed.node {
            return None;
        }
        parsed.uses.add(ChangeRule::Repeated);
        rest = after;
    }
    // `a(b=1).c()` is an expression with more than one call.
    if !rest.is_empty() && !rest.starts_with([' ', '\n', '\r', '\t', ';']) {
        return None;
    }
    let rest = rest.trim_start_matches([' ', '\n', '\r', '\t', ';']);
    if !before.is_empty() || !rest.is_empty() {
        parsed.uses.add(ChangeRule::Prose);
        // Inside of a longer text, `a()` only mentions a function and does not call it.
        if parsed.node == Node::Object(Vec::new()) {
            return None;
        }
    }
    is_words(rest, is_key).then_some(parsed)
}

/// Parses the arguments from the bracket at `open` on, and returns the text after the closing bracket.
fn arguments(text: &str, open: usize) -> Option<(ParsedValue, &str)> {
    let mut parser = Parser::new(text, 1);
    parser.position = open;
    if !parser.takes(b'(') {
        return None;
    }
    let mut entries = Vec::new();
    parser.space().ok()?;
    while !parser.takes(b')') {
        let key = parser.word().to_owned();
        if key.is_empty() || key.starts_with(|first: char| first.is_ascii_digit()) {
            return None;
        }
        parser.position += key.len();
        parser.space().ok()?;
        if !parser.takes(b'=') {
            return None;
        }
        parser.space().ok()?;
        let known = parser.duplicates.known();
        let value = parser.value().ok()?;
        parser.duplicates.place(known, || key.clone());
        entries.push((key, value));
        parser.space().ok()?;
        let comma = parser.takes(b',');
        parser.space().ok()?;
        if !comma && parser.byte() != Some(b')') {
            return None;
        }
    }
    parser.duplicates.find(&entries);
    // Other Python notations are not recorded: they belong to the notation of a call.
    let mut uses = Uses::default();
    uses.add(ChangeRule::Call);
    for rule in [ChangeRule::ControlCharacter, ChangeRule::SmartQuote, ChangeRule::Comment] {
        if parser.uses.contains(rule) {
            uses.add(rule);
        }
    }
    let rest = parser.rest();
    Some((ParsedValue { node: Node::Object(entries), uses, duplicates: parser.duplicates }, rest))
}
