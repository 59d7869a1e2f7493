//! Integers that were written as floats, `2.0` and `2e3`, in the spelling that every type takes.
//!
//! JSON Schema knows one integer however it is written, and so does the reader. But where a type
//! goes through serde's buffer, as untagged enums and `flatten` do, serde remembers the float and
//! refuses it. Only a value that was refused is written anew: what takes a float goes on taking it.

use super::{number::Exact, reader::Reader};

/// The text of a JSON value with its integers written as such, unless they were already.
///
/// Those past 64 bits stay as they are: the buffer has no integers of that size.
#[cold]
pub(super) fn with_plain_integers(text: &str) -> Option<String> {
    let mut reader = Reader::new(text);
    let mut written = String::new();
    let mut copied = 0;
    while let Some(byte) = reader.byte() {
        match byte {
            b'"' => reader.skip_string().ok()?,
            b'-' | b'0'..=b'9' => {
                let start = reader.position;
                let number = reader.number_here().ok()?;
                let integer = (!number.plain).then(|| number.exact()).and_then(in_64_bits);
                if let Some(integer) = integer {
                    written.push_str(text.get(copied..start)?);
                    written.push_str(&integer.to_string());
                    copied = reader.position;
                }
            }
            _ => reader.step(),
        }
    }
    if copied == 0 {
        return None;
    }
    written.push_str(text.get(copied..)?);
    Some(written)
}

fn in_64_bits(number: Exact) -> Option<i128> {
    let Exact::Integer { negative, magnitude } = number else { return None };
    let magnitude = i128::from(u64::try_from(magnitude).ok()?);
    let integer = if negative { -magnitude } else { magnitude };
    (integer >= i64::MIN.into()).then_some(integer)
}
