//! Decodes the text of `$'…'`, in which a backslash begins an escape.

/// Decodes the text inside `$'…'`; `None` if the text contains an unescaped quote, or an escape that is unknown or
/// is no whole character.
pub(super) fn decode(inside: &str) -> Option<String> {
    let mut text = String::with_capacity(inside.len());
    let mut rest = inside.chars().peekable();
    while let Some(letter) = rest.next() {
        if letter == '\'' {
            return None;
        }
        if letter != '\\' {
            text.push(letter);
            continue;
        }
        let escape = rest.next()?;
        let mut number = |radix: u32, most: usize| {
            let mut value = 0;
            let mut count = 0;
            while count < most
                && let Some(digit) = rest.peek().and_then(|it| it.to_digit(radix))
            {
                value = value * radix + digit;
                rest.next();
                count += 1;
            }
            if count == 0 { None } else { char::from_u32(value) }
        };
        let made = match escape {
            'a' => '\x07',
            'b' => '\x08',
            'e' | 'E' => '\x1b',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            '\\' | '\'' | '"' | '?' => escape,
            'x' => number(16, 2)?,
            'u' => number(16, 4)?,
            'U' => number(16, 8)?,
            '0'..='7' => {
                let first = escape.to_digit(8)?;
                let mut value = first;
                for _ in 0..2 {
                    let Some(digit) = rest.peek().and_then(|it| it.to_digit(8)) else { break };
                    value = value * 8 + digit;
                    rest.next();
                }
                char::from_u32(value)?
            }
            _ => return None,
        };
        // A byte above ASCII is not a whole character, and bash ends the text at a NUL.
        if made == '\0' || (escape == 'x' && !made.is_ascii()) {
            return None;
        }
        text.push(made);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn escapes_are_decoded_and_a_quote_inside_is_refused() {
        assert_eq!(decode(r"r\x6d\40-rf").as_deref(), Some("rm -rf"));
        assert_eq!(decode(r"it\'s").as_deref(), Some("it's"));
        assert_eq!(decode(r"\\'; reboot; echo '"), None);
        assert_eq!(decode(r"\c["), None);
        assert_eq!(decode(r"a\0b"), None);
    }
}
