//! Mistakes in the text of a call.

use serde_json::Value;

use super::Kind::{self, *};
use super::Random;

/// The text with one more mistake, unless it cannot be made of it.
pub fn spoil_text(
    sent: &str,
    value: &Value,
    name: &str,
    kind: Kind,
    random: &mut Random,
) -> Option<String> {
    let written = value.to_string();
    let is_json = sent == written;
    Some(match kind {
        Python => is_json.then(|| python(value))?,
        PythonCall => {
            let entries = value.as_object().filter(|_| is_json)?;
            let is_name = |key: &String| {
                key.chars().all(|it| it.is_alphanumeric() || it == '_')
                    && !key.starts_with(|first: char| first.is_ascii_digit())
                    && !key.is_empty()
            };
            if !entries.keys().all(is_name) {
                return None;
            }
            let list: Vec<String> =
                entries.iter().map(|(key, value)| format!("{key}={}", python(value))).collect();
            format!("{name}({})", list.join(", "))
        }
        SmartQuotes => {
            if !is_json || sent.contains("\\\"") || sent.contains(['“', '”']) {
                return None;
            }
            let mut open = false;
            let turned = sent.chars().map(|letter| {
                open ^= letter == '"';
                match (letter, open) {
                    ('"', true) => '“',
                    ('"', false) => '”',
                    (other, _) => other,
                }
            });
            turned.collect()
        }
        RawControls => {
            let raw = sent.replace("\\n", "\n").replace("\\t", "\t");
            (is_json && !sent.contains("\\\\") && raw != sent).then_some(raw)?
        }
        TrailingComma => {
            let end = sent.strip_suffix('}').filter(|rest| !rest.ends_with(['{', ',']))?;
            format!("{end},}}")
        }
        Comment => {
            let rest = sent.strip_prefix('{')?;
            format!("{{ // the arguments\n{rest}")
        }
        Repeated => format!("{sent}{}{sent}", random.one(&["", "\n", " "])?),
        MissingBrackets => {
            let closers = sent.len() - sent.trim_end_matches(['}', ']']).len();
            (closers > 0).then(|| sent[..sent.len() - 1 - random.below(closers)].to_owned())?
        }
        Tagged => format!("<tool_call>\n{sent}\n</tool_call>"),
        Fenced => format!("```{}\n{sent}\n```", random.one(&["json", "", "python"])?),
        Prose => {
            let before = random.one(&["I will call the tool now:\n\n", "", "Sure! "])?;
            let after = random.one(&["\n\nLet me know if that's fine.", "", "\nThank you."])?;
            if before.is_empty() && after.is_empty() {
                return None;
            }
            format!("{before}{sent}{after}")
        }
        _ => return None,
    })
}

/// A value as Python prints it.
fn python(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => {
            let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
            let mut printed = String::from(quote);
            for letter in text.chars() {
                match letter {
                    '\\' => printed.push_str("\\\\"),
                    '\n' => printed.push_str("\\n"),
                    '\t' => printed.push_str("\\t"),
                    '\r' => printed.push_str("\\r"),
                    letter if letter == quote => {
                        printed.push('\\');
                        printed.push(letter);
                    }
                    other => printed.push(other),
                }
            }
            printed.push(quote);
            printed
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(python).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(entries) => {
            let entry = |(key, value): (&String, &Value)| {
                format!("{}: {}", python(&Value::from(key.as_str())), python(value))
            };
            let entries: Vec<String> = entries.iter().map(entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}
