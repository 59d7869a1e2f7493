//! Reads a value a second time if the reader refused it, but its schema may accept it.
//!
//! - For JSON Schema and for the reader, an integer is the same in every notation. But where a type goes through
//!   serde's buffer, as untagged enums and `flatten` do, serde stores `2.0` as a float and refuses it as an integer. So
//!   the second reading gets integers in plain notation; types that accept the float have done so at the first reading.
//! - The content of an adjacently tagged enum is a field that cannot be left out, but the reader cannot distinguish it
//!   from other fields. So the second reading takes `null` as `None` everywhere.
//! - Only values that are checked against their schema afterwards are read a second time.

use super::{fault::Fault, number::Exact, reader::Reader};

/// Reads a refused value again, as leniently as its type allows; its schema is checked afterwards.
#[cold]
#[doc(hidden)]
pub fn reread<T>(text: &str, read: impl FnOnce(&mut Reader<'_>) -> Result<T, Fault>) -> Option<T> {
    let written = with_plain_integers(text);
    read(&mut Reader::lenient(written.as_deref().unwrap_or(text))).ok()
}

/// Rewrites the integers of a JSON text to plain notation (`2.0` to `2`), except those beyond 64 bits, which serde's
/// buffer cannot hold. `None` if nothing was rewritten, or the text cannot be read.
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
