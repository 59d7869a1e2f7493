//! Finds the one input in a text that is not JSON: fences, tags, calls, prose, repetition.
//!
//! - What is passed over holds no brackets and no keys, so nothing of the input is ever dropped.
//! - Two inputs that differ are no input.
//! - The text is read a fixed number of times.

use super::change::ChangeRule;
use super::parse::{Break, Parsed, Parser, Uses, parse, parse_closing};
use super::prose::{IsKey, ends_in_key, is_words};
use super::tree::Node;

/// Everything that a whole text may be besides JSON.
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

/// Reads the input that a text holds. The error is that of the text as it stands.
pub(super) fn extract(text: &str, may_close: bool, is_key: IsKey<'_>) -> Result<Parsed, Break> {
    let text = text.trim_start_matches('\u{feff}').trim();
    let first = match parse(text) {
        Ok(mut parsed) => {
            // What was trimmed off is no white space of JSON.
            if parsed.uses.is_empty() {
                parsed.uses.add(ChangeRule::Syntax);
            }
            return Ok(parsed);
        }
        Err(Break::Depth) => return Err(Break::Depth),
        Err(first) => first,
    };
    let (inner, uses) = unwrap(text, is_key);
    let close = |text| if may_close { parse_closing(text).ok() } else { None };
    let found = (!uses.is_empty())
        .then(|| parse(inner).ok())
        .flatten()
        .or_else(|| call(inner, is_key))
        .or_else(|| among_words(inner, is_key))
        .or_else(|| close(inner));
    match found {
        Some(parsed) => Ok(Parsed { uses: parsed.uses.and(uses), ..parsed }),
        None => Err(nearest_break(inner, first)),
    }
}

/// Why the object that was begun could not be read; else why the text could not.
fn nearest_break(text: &str, first: Break) -> Break {
    let Some(start) = text.find(['{', '[']) else { return first };
    match Parser::new(&text[start..], 0).value() {
        Err(Break::Wanted(at, what)) => Break::Wanted(at + start, what),
        Err(other) => other,
        Ok(_) => first,
    }
}

/// Takes off tags, then one fence.
fn unwrap<'t>(text: &'t str, is_key: IsKey<'_>) -> (&'t str, Uses) {
    let mut uses = Uses::default();
    let mut inner = text;
    for name in ["tool_call", "function_call"] {
        if let Some((within, again)) = tagged(inner, name, is_key) {
            uses.add(ChangeRule::Tag);
            if again {
                uses.add(ChangeRule::Repeated);
            }
            inner = within;
            break;
        }
    }
    if let Some(within) = fenced(inner, is_key) {
        uses.add(ChangeRule::Fence);
        inner = within;
    }
    (inner, uses)
}

/// What stands between tags of a name, and whether it stands there again; the last one may not be closed.
fn tagged<'t>(text: &'t str, name: &str, is_key: IsKey<'_>) -> Option<(&'t str, bool)> {
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

/// What stands in the only code block.
fn fenced<'t>(text: &'t str, is_key: IsKey<'_>) -> Option<&'t str> {
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

/// An object with words around it, or the same object again.
fn among_words(text: &str, is_key: IsKey<'_>) -> Option<Parsed> {
    let start = text.find('{')?;
    let before = text[..start].trim_end();
    let named = before.strip_suffix([':', '=']).unwrap_or(before);
    if !is_words(named, is_key) || (named.len() < before.len() && ends_in_key(named, is_key)) {
        return None;
    }
    let mut parser = Parser::new(&text[start..], 0);
    let node = parser.value().ok()?;
    let mut uses = Uses::default();
    if !before.is_empty() {
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
    is_words(rest, is_key).then_some(Parsed {
        node,
        uses: uses.and(parser.uses),
        duplicates: parser.duplicates,
    })
}

/// `name(key=value, …)`, alone, as the only item of a list, with words around it or the same again.
fn call(text: &str, is_key: IsKey<'_>) -> Option<Parsed> {
    let text = match text.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        Some(inner) => inner.trim(),
        None => text,
    };
    let is_name = |letter: char| letter.is_alphanumeric() || "_.-".contains(letter);
    let open = text.find('(')?;
    let before = text[..open].trim_end_matches(is_name);
    let name = &text[before.len()..open];
    if !name.starts_with(char::is_alphabetic) || !is_words(before, is_key) {
        return None;
    }
    let (mut parsed, mut rest) = arguments(text, open)?;
    while let Some(again) = rest.trim_start().strip_prefix(name) {
        let (next, after) = arguments(again, 0)?;
        if next.node != parsed.node {
            return None;
        }
        parsed.uses.add(ChangeRule::Repeated);
        rest = after;
    }
    // `a(b=1).c()` is more than a call.
    if !rest.is_empty() && !rest.starts_with([' ', '\n', '\r', '\t', ';']) {
        return None;
    }
    let rest = rest.trim_start_matches([' ', '\n', '\r', '\t', ';']);
    if !before.is_empty() || !rest.is_empty() {
        parsed.uses.add(ChangeRule::Prose);
        // `a()` among words is a mention.
        if parsed.node == Node::Object(Vec::new()) {
            return None;
        }
    }
    is_words(rest, is_key).then_some(parsed)
}

/// The arguments from an opening bracket on, and what follows.
fn arguments(text: &str, open: usize) -> Option<(Parsed, &str)> {
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
    // Everything else that Python writes belongs to the call.
    let mut uses = Uses::default();
    uses.add(ChangeRule::Call);
    for rule in [ChangeRule::ControlCharacter, ChangeRule::SmartQuote, ChangeRule::Comment] {
        if parser.uses.contains(rule) {
            uses.add(rule);
        }
    }
    let rest = parser.rest();
    Some((Parsed { node: Node::Object(entries), uses, duplicates: parser.duplicates }, rest))
}
