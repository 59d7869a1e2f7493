//! Reads a value a second time, if the reader has refused it but its schema may accept it.
//!
//! - An integer is the same in every notation, for JSON Schema and for the reader. But a type that goes through serde's
//!   buffer, such as an untagged enum or a type with `flatten`, refuses `2.0` as an integer: serde stores it as a
//!   float. So the second reading gets integers in plain notation. A type that accepts the float has already accepted
//!   it at the first reading.
//! - The content of an adjacently tagged enum is a field that cannot be left out. The reader cannot distinguish it from
//!   other fields, so the second reading takes `null` as `None` everywhere.
//! - A value is read a second time only if it is checked against its schema afterwards.

use super::{fault::Fault, number::Exact, reader::Reader};

/// Reads a refused value again, as leniently as its type allows. The caller then checks it against its schema.
#[cold]
#[doc(hidden)]
pub fn reread<T>(text: &str, read: impl FnOnce(&mut Reader<'_>) -> Result<T, Fault>) -> Option<T> {
    let written = with_plain_integers(text);
    read(&mut Reader::lenient(written.as_deref().unwrap_or(text))).ok()
}

/// Rewrites the integers of a JSON text in plain notation, such as `2` for `2.0`. Integers beyond 64 bits remain,
/// because serde's buffer cannot store them. Returns `None` if nothing was rewritten, or the text cannot be read.
fn with_plain_integers(text: &str) -> Option<String> {
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
