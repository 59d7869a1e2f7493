//! A Markdown file with front matter in YAML; pure.

use serde::de::DeserializeOwned;

const FENCE: &str = "---";

/// More front matter than any kind has, in bytes.
const LONGEST: usize = 16 << 10;

/// Splits a text into its front matter and the rest, or says why it has none.
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

/// Reads the front matter of a text. Doubled keys, keys that the kind does not have, and tabs as indentation are mistakes.
pub fn front_matter<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let (front, _) = split(text)?;
    if front.len() > LONGEST {
        return Err(format!(
            "the front matter has {} bytes, expected at most {LONGEST}",
            front.len()
        ));
    }
    serde_saphyr::from_str(front).map_err(|error| {
        // Only the first line says what is wrong; the others quote the text.
        let error = error.to_string();
        format!("the front matter does not fit: {}", error.lines().next().unwrap_or_default())
    })
}
