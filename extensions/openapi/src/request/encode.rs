//! Percent-encoding by the place of a text. Pure.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// All but what RFC 3986 calls unreserved.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What `allowReserved` leaves as it is: reserved characters that end neither a value nor a query.
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

/// What a segment of a path has as it is.
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

/// A value, in which no character is left that means something to a URL.
pub(super) fn value(text: &str) -> String {
    utf8_percent_encode(text, VALUE).to_string()
}

/// A value of a parameter that allows reserved characters.
pub(super) fn reserved(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Text of the document in a segment of a path.
pub(super) fn segment(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}
