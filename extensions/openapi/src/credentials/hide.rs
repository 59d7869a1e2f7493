//! Removes secrets from a server's answer, even if the server has encoded them for a URL, a form or JSON. The functions
//! are pure.

/// The longest encoding of one character, in bytes: two UTF-16 units as JSON escapes.
const LONGEST_FORM: usize = 12;

/// Replaces each of these secrets, which must not be empty, with `[key]`.
pub(crate) fn hide(text: &[u8], secrets: &[String]) -> Vec<u8> {
    let (mut clean, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((first, after)) = rest.split_first() {
        match secrets.iter().find_map(|it| after_secret(rest, it)) {
            Some(after) => {
                clean.extend_from_slice(b"[key]");
                rest = after;
            }
            None => {
                clean.push(*first);
                rest = after;
            }
        }
    }
    clean
}

/// Removes the end of a truncated text if that end is the beginning of one of these secrets.
pub(crate) fn without_beginning<'t>(text: &'t [u8], secrets: &[String]) -> &'t [u8] {
    let is_beginning = |end: &[u8]| secrets.iter().any(|it| begins(end, it));
    // No encoding of a secret is longer than this.
    let longest = secrets.iter().map(|it| it.chars().count() * LONGEST_FORM).max().unwrap_or(0);
    let first = text.len().saturating_sub(longest);
    let end = (first..text.len()).find(|at| text.get(*at..).is_some_and(is_beginning));
    text.get(..end.unwrap_or(text.len())).unwrap_or(text)
}

/// Returns whether the whole text is the beginning of a secret. The last character of the text may be incomplete.
fn begins(text: &[u8], secret: &str) -> bool {
    let mut characters = secret.chars();
    let Some(character) = characters.next() else { return false };
    text.is_empty()
        || begins_character(text, character)
        || after_character(text, character)
            .into_iter()
            .flatten()
            .any(|after| begins(after, characters.as_str()))
}

/// Returns whether the text is the incomplete encoding of the character.
fn begins_character(text: &[u8], character: char) -> bool {
    let (mut utf8, mut utf16) = ([0; 4], [0; 2]);
    let plain = character.encode_utf8(&mut utf8).to_owned();
    let units = character.encode_utf16(&mut utf16).iter().map(|unit| format!("\\u{unit:04x}"));
    let bytes = plain.bytes().map(|byte| format!("%{byte:02x}"));
    let forms = [units.collect(), bytes.collect(), format!("\\{plain}"), plain.clone()];
    forms.iter().any(|form: &String| {
        let form = form.as_bytes();
        form.len() > text.len()
            && form.iter().zip(text).all(|(one, two)| one.eq_ignore_ascii_case(two))
    })
}

/// Returns the text after the secret, if the text begins with the secret.
fn after_secret<'t>(text: &'t [u8], secret: &str) -> Option<&'t [u8]> {
    let mut characters = secret.chars();
    let Some(character) = characters.next() else { return Some(text) };
    let mut forms = after_character(text, character).into_iter().flatten();
    forms.find_map(|after| after_secret(after, characters.as_str()))
}

/// Returns the text after a character, for each encoding of the character with which the text may begin: URL, form,
/// JSON, or plain. Each character is tried separately, because servers differ in the characters that they encode.
fn after_character(text: &[u8], character: char) -> [Option<&[u8]>; 4] {
    let (mut utf8, mut utf16) = ([0; 4], [0; 2]);
    let bytes: &[u8] = character.encode_utf8(&mut utf8).as_bytes();
    let mut units = character.encode_utf16(&mut utf16).iter();
    let short = match character {
        ' ' => text.strip_prefix(b"+"),
        '"' | '\\' | '/' => text.strip_prefix(br"\").and_then(|it| it.strip_prefix(bytes)),
        _ => None,
    };
    [
        short,
        units.try_fold(text, |rest, unit| after_hex(rest, br"\u", 4, *unit)),
        bytes.iter().try_fold(text, |rest, byte| after_hex(rest, b"%", 2, u16::from(*byte))),
        text.strip_prefix(bytes),
    ]
}

/// Returns the text after this number, if the text begins with the prefix and the number in `digits` hexadecimal
/// digits.
fn after_hex<'t>(text: &'t [u8], prefix: &[u8], digits: usize, number: u16) -> Option<&'t [u8]> {
    let (found, after) = text.strip_prefix(prefix)?.split_at_checked(digits)?;
    let found = std::str::from_utf8(found).ok()?;
    (u16::from_str_radix(found, 16) == Ok(number)).then_some(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_in_each_form_in_which_a_server_may_write_it() {
        let secret = "a/b \"é\\😀";
        let json = serde_json::to_string(secret).expect("JSON");
        for written in [
            secret,
            json.trim_start_matches('"').strip_suffix('"').expect("quotes"),
            r#"a\/b \"\u00E9\\\ud83d\ude00"#,
            "a%2Fb%20%22%C3%A9%5C%F0%9F%98%80",
            "a%2fb+%22%c3%a9%5c%f0%9f%98%80",
            "a/b%20%22é%5C😀",
        ] {
            let hidden = hide(format!("<{written}> a/").as_bytes(), &[secret.to_owned()]);
            assert_eq!(String::from_utf8_lossy(&hidden), "<[key]> a/", "{written}");
        }
        assert_eq!(hide(b"%2 a%2Fb", &["abc".to_owned()]), b"%2 a%2Fb");
    }

    #[test]
    fn the_beginning_of_a_secret_at_the_end_of_a_text_is_left_out_in_each_form() {
        let secrets = ["s\u{e9}cret/😀x".to_owned()];
        for (text, rest) in [
            ("the key is s\u{e9}cre", "the key is "),
            ("the key is s%C3%A9cret%2", "the key is "),
            ("the key is s%c3", "the key is "),
            (r"the key is s\u00E9cret\/\ud83d\ude", "the key is "),
            (r"the key is s\u00E9cret\", "the key is "),
            ("nothing of it: secre", "nothing of it: secre"),
            ("", ""),
        ] {
            let shown = without_beginning(text.as_bytes(), &secrets);
            assert_eq!(String::from_utf8_lossy(shown), rest, "{text}");
        }
    }
}
