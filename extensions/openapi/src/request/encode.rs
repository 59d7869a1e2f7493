//! Percent-encodes a text, depending on its place in the URL. The functions are pure.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The characters that are encoded in a value: all but those that RFC 3986 calls unreserved.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The characters that are encoded with `allowReserved`. Most reserved characters stay unencoded. `&`, `;`, `=` and `#`
/// are encoded, because they could end a key, the value or the query, and so are `+`, `'`, `[` and `]`.
const RESERVED: &AsciiSet = &VALUE
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',');

/// The characters that are encoded in a path segment.
const SEGMENT: &AsciiSet = &VALUE
    .remove(b':')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=');

/// Encodes a value, so that none of its characters has a meaning in a URL.
pub(super) fn value(text: &str) -> String {
    utf8_percent_encode(text, VALUE).to_string()
}

/// Encodes a value of a parameter that allows reserved characters.
pub(super) fn reserved(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Encodes text of the document in a path segment.
pub(super) fn segment(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}
