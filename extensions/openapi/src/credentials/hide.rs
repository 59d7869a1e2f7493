//! Takes secrets out of what a server answers, in every form in which it may write what it was sent. Pure.

/// Replaces each of these secrets, which are not empty, by `[key]`.
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

/// What follows the secret, where the text begins with it.
fn after_secret<'t>(text: &'t [u8], secret: &str) -> Option<&'t [u8]> {
    let mut characters = secret.chars();
    let Some(character) = characters.next() else { return Some(text) };
    let mut forms = after_character(text, character).into_iter().flatten();
    forms.find_map(|after| after_secret(after, characters.as_str()))
}

/// What follows a character in each form that the text may have it in, those of a URL, a form and JSON: each character by itself,
/// because servers differ in which they encode.
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

/// What follows this number, which is written in so many hexadecimal digits.
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
}
