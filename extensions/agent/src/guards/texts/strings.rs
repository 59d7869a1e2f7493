//! Finds the JSON strings in a text, and decodes their escapes. Pure.
//!
//! A JSON string contains no line break, so each line is read separately. This also finds JSON in the middle of a text,
//! such as in a code fence.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::IgnoredAny;

use super::Map;

/// Returns whether a predicate holds for a text, or for a JSON string in the text after its escapes are decoded.
pub(in crate::guards) fn is_found(text: &str, has_it: impl Fn(&str) -> bool) -> bool {
    has_it(text) || strings(text).any(|it| decoded(&text[it]).is_some_and(|it| has_it(&it)))
}

/// Maps a whole text, and then each JSON string in it that has escapes; `None` if nothing changes.
pub(in crate::guards) fn mapped(text: &str, map: Map<'_>) -> Option<String> {
    let whole = map(text);
    in_strings(whole.as_deref().unwrap_or(text), map, true).or(whole)
}

/// Maps JSON like [`mapped`]. If mapping the whole text gives no JSON, maps only the JSON strings in the text. Returns
/// `None` if nothing changes.
pub(super) fn mapped_json(text: &str, map: Map<'_>) -> Option<String> {
    let whole = map(text).filter(|it| is_json(it) || !is_json(text));
    in_strings(whole.as_deref().unwrap_or(text), map, whole.is_some()).or(whole)
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Maps the JSON strings in a text, or only those with escapes (`only_escaped`). Returns `None` if none changes.
fn in_strings(text: &str, map: Map<'_>, only_escaped: bool) -> Option<String> {
    let (mut changed, mut copied) = (String::new(), 0);
    for string in strings(text) {
        let written = &text[string.clone()];
        let read = match only_escaped {
            true => decoded(written),
            false => read(written),
        };
        let new = read.and_then(|it| map(&it)).and_then(|it| serde_json::to_string(&it).ok());
        if let Some(new) = new {
            changed.push_str(&text[copied..string.start]);
            changed.push_str(&new);
            copied = string.end;
        }
    }
    (copied > 0).then(|| changed + &text[copied..])
}

/// Decodes a JSON string; `None` if it has no escapes, or is not a JSON string.
fn decoded(written: &str) -> Option<Cow<'_, str>> {
    written.contains('\\').then(|| read(written)).flatten()
}

/// Reads a JSON string, even if it has a raw control character, such as a tab.
fn read(written: &str) -> Option<Cow<'_, str>> {
    let is_control = |it: char| it < ' ';
    if !written.contains(is_control) {
        return serde_json::from_str(written).ok();
    }
    let escape = |text: String, it: char| match is_control(it) {
        true => text + &format!("\\u{:04x}", u32::from(it)),
        false => text + it.encode_utf8(&mut [0; 4]),
    };
    let escaped = written.chars().fold(String::new(), escape);
    serde_json::from_str(&escaped).ok().map(Cow::Owned)
}

/// Finds the positions of the JSON strings in a text, including their quotes.
fn strings(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let mut begun = None;
        while at < bytes.len() {
            let here = at;
            at += 1;
            match (bytes[here], begun) {
                (b'\n', _) => begun = None,
                (b'"', None) => begun = Some(here),
                (b'"', Some(start)) => return Some(start..at),
                (b'\\', Some(_)) if bytes.get(at).is_some_and(|it| *it != b'\n') => at += 1,
                _ => {}
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without_tea(text: &str) -> Option<String> {
        text.contains("tea\n").then(|| text.replace("tea\n", "…"))
    }

    #[test]
    fn a_string_is_looked_at_without_its_escapes_and_written_with_those_that_it_needs() {
        let json = r#"{"a":"x","b\"":"\u0074ea\n\"é\" "}"#;
        assert_eq!(mapped(json, &without_tea).unwrap(), r#"{"a":"x","b\"":"…\"é\" "}"#);
        assert!(is_found(json, |it| it.contains("tea\n")) && !is_found(json, |it| it == "coffee"));
        let fenced = format!("5\" of\nin a fence:\n{json}\n\"tea");
        assert!(mapped(&fenced, &without_tea).is_some());
        for plain in ["", "\"", "\"\\", "\\\"", "a \"b\" c\\n\"", "é\"é\\é\"é"] {
            assert_eq!(mapped(plain, &without_tea), None, "{plain}");
        }
    }

    #[test]
    fn a_raw_tab_in_a_string_hides_nothing() {
        assert_eq!(mapped("{\"a\":\"\\u0074ea\\n\tb\"}", &without_tea).unwrap(), r#"{"a":"…\tb"}"#);
    }

    #[test]
    fn what_is_json_stays_json() {
        let to_the_end = |text: &str| text.find("KEY").map(|at| format!("{}…", &text[..at]));
        let json = r#"{"a":"b KEY c","d":1}"#;
        assert_eq!(mapped_json(json, &to_the_end).unwrap(), r#"{"a":"b …","d":1}"#);
        let open = |text: &str| text.strip_suffix('}').map(str::to_owned);
        assert_eq!(mapped_json(r#"{"d":1}"#, &open), None);
    }
}
