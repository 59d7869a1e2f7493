//! JSON pointers (RFC 6901): places in a value.

use std::borrow::Cow;

/// Appends `key` to a pointer.
#[doc(hidden)]
#[must_use]
pub fn below(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Decodes a segment of a JSON pointer to the key that the segment names.
#[doc(hidden)]
#[must_use]
pub fn unescape(segment: &str) -> Cow<'_, str> {
    if segment.contains('~') {
        segment.replace("~1", "/").replace("~0", "~").into()
    } else {
        segment.into()
    }
}

/// Splits a JSON pointer into its segments, decoded; `None` if it is not a pointer.
#[doc(hidden)]
#[must_use]
pub fn segments(pointer: &str) -> Option<Vec<String>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    let unescape = |segment: &str| {
        let mut parts = segment.split('~');
        let first = parts.next()?.to_owned();
        parts.try_fold(first, |whole, part| match part.as_bytes().first()? {
            b'0' => Some(whole + "~" + &part[1..]),
            b'1' => Some(whole + "/" + &part[1..]),
            _ => None,
        })
    };
    pointer.strip_prefix('/')?.split('/').map(unescape).collect()
}

/// Reads a segment as an index of an array: digits, without a sign or leading zeros.
#[doc(hidden)]
#[must_use]
pub fn index(segment: &str) -> Option<usize> {
    let digits = !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit());
    let plain = digits && (segment == "0" || !segment.starts_with('0'));
    if plain { segment.parse().ok() } else { None }
}
