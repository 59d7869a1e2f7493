//! Finds a key in a server's text, even if the server has escaped it for JSON, a URL or HTML. The functions are pure.

/// The result of comparing the beginning of a text with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShownPrefix {
    /// The text begins with the whole key; the value is the length of the key in the text, in bytes.
    Whole(usize),
    /// The text ends in the middle of the key.
    Begun,
    Nothing,
}

/// Compares the beginning of a text with a key.
pub(super) fn shown_at(key: &[u8], text: &[u8]) -> ShownPrefix {
    let Some((first, others)) = key.split_first() else { return ShownPrefix::Whole(0) };
    let mut found = ShownPrefix::Nothing;
    for read in FORMS {
        match read(*first, text) {
            ShownPrefix::Whole(length) => match shown_at(others, &text[length..]) {
                ShownPrefix::Whole(rest) => return ShownPrefix::Whole(length + rest),
                ShownPrefix::Begun => found = ShownPrefix::Begun,
                ShownPrefix::Nothing => {}
            },
            ShownPrefix::Begun => found = ShownPrefix::Begun,
            ShownPrefix::Nothing => {}
        }
    }
    found
}

/// The forms in which a server may write one byte of a key.
const FORMS: [fn(u8, &[u8]) -> ShownPrefix; 4] = [for_an_address, for_json, for_a_page, as_it_is];

fn as_it_is(byte: u8, text: &[u8]) -> ShownPrefix {
    match text.first() {
        Some(found) if *found == byte => ShownPrefix::Whole(1),
        Some(_) => ShownPrefix::Nothing,
        None => ShownPrefix::Begun,
    }
}

/// Matches a byte in the form that URLs use, such as `%2F`, even if the percent sign was encoded again.
fn for_an_address(byte: u8, text: &[u8]) -> ShownPrefix {
    let Some(mut rest) = text.strip_prefix(b"%") else { return ShownPrefix::Nothing };
    while let Some(more) = rest.strip_prefix(b"25") {
        rest = more;
    }
    let before = text.len() - rest.len();
    match (byte, rest) {
        (b'%', _) if before > 1 => return ShownPrefix::Whole(before),
        (_, b"2") => return ShownPrefix::Begun,
        _ => {}
    }
    either(text, digits(byte, rest), before)
}

/// Matches a byte in the forms that JSON uses, such as `\/` and `\u002f`, even if the backslash was escaped again.
fn for_json(byte: u8, text: &[u8]) -> ShownPrefix {
    let slashes = text.iter().take_while(|it| **it == b'\\').count();
    if slashes == 0 {
        return ShownPrefix::Nothing;
    }
    let rest = &text[slashes..];
    match rest.split_first() {
        None => ShownPrefix::Begun,
        Some((b'u', code)) => {
            let code = match code {
                [b'0', b'0', code @ ..] => digits(byte, code),
                [] | [b'0'] => ShownPrefix::Begun,
                _ => ShownPrefix::Nothing,
            };
            either(text, code, slashes + 3)
        }
        Some((found, _)) if *found == byte && !byte.is_ascii_alphanumeric() => {
            ShownPrefix::Whole(slashes + 1)
        }
        // With several backslashes, the last one may be the byte itself.
        Some(_) if byte == b'\\' && slashes > 1 => ShownPrefix::Whole(2),
        Some(_) => ShownPrefix::Nothing,
    }
}

/// Matches a byte in the forms that HTML uses, such as `&#47;`, `&#x2f;` and `&amp;`.
fn for_a_page(byte: u8, text: &[u8]) -> ShownPrefix {
    const LONGEST: usize = b"&#x002f;".len();
    if text.first() != Some(&b'&') {
        return ShownPrefix::Nothing;
    }
    let Some(end) = text.iter().take(LONGEST).position(|it| *it == b';') else {
        let is_open = |it: &u8| it.is_ascii_alphanumeric() || *it == b'#';
        let is_begun = text.len() < LONGEST && text[1..].iter().all(is_open);
        return if is_begun { ShownPrefix::Begun } else { ShownPrefix::Nothing };
    };
    let number = |digits: &str, radix| u8::from_str_radix(digits, radix).ok();
    let named = match &text[1..end] {
        b"amp" => Some(b'&'),
        b"lt" => Some(b'<'),
        b"gt" => Some(b'>'),
        b"quot" => Some(b'"'),
        b"apos" => Some(b'\''),
        code => std::str::from_utf8(code).ok().and_then(|code| {
            let code = code.strip_prefix('#')?;
            match code.strip_prefix(['x', 'X']) {
                Some(code) => number(code, 16),
                None => number(code, 10),
            }
        }),
    };
    if named == Some(byte) { ShownPrefix::Whole(end + 1) } else { ShownPrefix::Nothing }
}

/// Matches the two hexadecimal digits of a byte.
fn digits(byte: u8, text: &[u8]) -> ShownPrefix {
    let digit = |it: u8| (it as char).to_digit(16).and_then(|it| u8::try_from(it).ok());
    match text {
        [] => ShownPrefix::Begun,
        [first] if digit(*first) == Some(byte >> 4) => ShownPrefix::Begun,
        [first, second, ..]
            if digit(*first) == Some(byte >> 4) && digit(*second) == Some(byte & 15) =>
        {
            ShownPrefix::Whole(2)
        }
        _ => ShownPrefix::Nothing,
    }
}

/// Adds the number of bytes before a match to the length of the match.
fn either(text: &[u8], found: ShownPrefix, before: usize) -> ShownPrefix {
    match found {
        ShownPrefix::Whole(length) => ShownPrefix::Whole((before + length).min(text.len())),
        other => other,
    }
}
