//! A body of `multipart/form-data`. The functions are pure: the boundary is derived from the content, so that equal
//! calls have equal bodies.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{decode, encode, style};
use crate::body::Part;

/// The beginning of a boundary, before its number in hexadecimal digits.
const BOUNDARY: &str = "toolwright-";

/// Returns the media type with its boundary, and the body.
pub(super) fn write(
    parts: &BTreeMap<String, Part>,
    value: &Value,
) -> Result<(String, Vec<u8>), String> {
    let Some(fields) = value.as_object() else {
        return Err(format!("a form is made of fields, found {value}"));
    };
    let plain = Part::default();
    let mut written = Vec::new();
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        let part = parts.get(name).unwrap_or(&plain);
        let one = |value| field(name, part, value).map_err(|why| format!("`{name}`: {why}"));
        match value {
            Value::Array(items) if part.media_type.is_none() || part.is_binary => {
                written.extend(items.iter().map(one).collect::<Result<Vec<_>, _>>()?);
            }
            value => written.push(one(value)?),
        }
    }
    let boundary = boundary(&written);
    let mut body = Vec::new();
    for (head, content) in &written {
        body.extend_from_slice(format!("--{boundary}\r\n{head}\r\n\r\n").as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((format!("multipart/form-data; boundary={boundary}"), body))
}

/// Returns the head of a part, and its content.
fn field(name: &str, part: &Part, value: &Value) -> Result<(String, Vec<u8>), String> {
    // Percent-encode the characters that would end the name, as browsers do.
    let name = name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
    let head = format!("Content-Disposition: form-data; name=\"{name}\"");
    let media_type = |otherwise: &str| {
        let media_type = part.media_type.as_deref().unwrap_or(otherwise);
        media_type.replace(['\r', '\n'], "")
    };
    if part.is_binary {
        let file = encode::value(&name);
        let kind = media_type("application/octet-stream");
        let head = format!("{head}; filename=\"{file}\"\r\nContent-Type: {kind}");
        return Ok((head, decode(value)?));
    }
    if value.is_object() || value.is_array() {
        let kind = media_type("application/json");
        return Ok((format!("{head}\r\nContent-Type: {kind}"), value.to_string().into_bytes()));
    }
    let head = match &part.media_type {
        Some(_) => format!("{head}\r\nContent-Type: {}", media_type("")),
        None => head,
    };
    Ok((head, style::plain(value).into_bytes()))
}

/// Returns the boundary with the least number that occurs in none of the contents. It reads the contents once, because
/// they can name any number of boundaries.
fn boundary(written: &[(String, Vec<u8>)]) -> String {
    let taken: BTreeSet<u64> = written.iter().flat_map(|(_, content)| numbers(content)).collect();
    let mut free = 0;
    for number in taken {
        if number != free {
            break;
        }
        free += 1;
    }
    format!("{BOUNDARY}{free:016x}")
}

/// Returns the numbers of the boundaries that occur in a content.
fn numbers(content: &[u8]) -> impl Iterator<Item = u64> {
    let number = |it: &[u8]| {
        let digits = it.strip_prefix(BOUNDARY.as_bytes())?;
        u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    content.windows(BOUNDARY.len() + 16).filter_map(number)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_text_that_names_many_boundaries_is_written_soon() {
        let named: String = (0..20_000).map(|it| format!("{BOUNDARY}{it:016x} ")).collect();
        let before = Instant::now();
        let fields = serde_json::json!({"text": named});
        let (media_type, _) = write(&BTreeMap::new(), &fields).expect("a body");
        assert!(media_type.ends_with("toolwright-0000000000004e20"), "{media_type}");
        assert!(before.elapsed() < Duration::from_secs(2), "{:?}", before.elapsed());
    }
}
