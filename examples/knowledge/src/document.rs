//! Parses and changes a Markdown file with front matter in YAML. Pure.

use serde::de::DeserializeOwned;

const FENCE: &str = "---";

/// The most bytes of a front matter.
const LONGEST: usize = 16 << 10;

/// Splits a text into its front matter and its body. The error says why the text has no front matter.
pub fn split(text: &str) -> Result<(&str, &str), String> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if first.trim_end() != FENCE {
        return Err(format!("the file does not begin with `{FENCE}`, as front matter does"));
    }
    let mut end = first.len();
    for line in lines {
        if line.trim_end() == FENCE {
            return Ok((&text[first.len()..end], &text[end + line.len()..]));
        }
        end += line.len();
    }
    Err(format!("the front matter has no end: a line `{FENCE}` is missing"))
}

/// Parses the front matter of a text. Repeated keys, unknown keys, and tabs as indentation are errors.
pub fn front_matter<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let (front, _) = split(text)?;
    if front.len() > LONGEST {
        return Err(format!(
            "the front matter has {} bytes, expected at most {LONGEST}",
            front.len()
        ));
    }
    serde_saphyr::from_str(front).map_err(|error| {
        // Only the first line states the error; the others quote the text.
        let error = error.to_string();
        format!("the front matter does not fit: {}", error.lines().next().unwrap_or_default())
    })
}

/// Returns the text with one key of its front matter set to a value, which is one line of YAML; `None` removes the key.
/// All other text is unchanged.
pub fn with_value(text: &str, key: &str, value: Option<&str>) -> Result<String, String> {
    let (front, _) = split(text)?;
    let begin = text.len() - text.split_once('\n').map_or(0, |(_, rest)| rest.len());
    let ends = if text[..begin].ends_with("\r\n") { "\r\n" } else { "\n" };
    let line = value.map(|value| format!("{key}: {value}{ends}"));
    let (mut changed, mut is_inside, mut was_found) = (String::new(), false, false);
    for it in front.split_inclusive('\n') {
        let is_key = it.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'));
        // An indented line continues the value of the key above it.
        is_inside = is_key || (is_inside && it.starts_with([' ', '\t']));
        if is_key && !was_found {
            was_found = true;
            changed.extend(line.as_deref());
        }
        if !is_inside {
            changed.push_str(it);
        }
    }
    if !was_found {
        changed.extend(line.as_deref());
    }
    Ok(format!("{}{changed}{}", &text[..begin], &text[begin + front.len()..]))
}

/// Quotes a text as a YAML value, in the form of a JSON string, which is valid YAML.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
