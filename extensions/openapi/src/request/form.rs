//! A body of `application/x-www-form-urlencoded`. The functions are pure.

use std::collections::BTreeMap;

use serde_json::Value;

use super::keys::Keys;
use super::style;
use crate::operation::Style;

/// Encodes the fields as pairs. If the document gives no style for a field, a list of plain values repeats the field,
/// and any other structure becomes JSON, as the specification demands.
pub(super) fn text(styles: &BTreeMap<String, Style>, value: &Value) -> Result<String, String> {
    let Some(fields) = value.as_object() else {
        return Err(format!("a form is made of fields, found {value}"));
    };
    let names: Vec<String> = fields.keys().cloned().collect();
    let (mut pairs, mut keys) = (Vec::new(), Keys::new(&names));
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        let style = styles.get(name).copied().unwrap_or_else(|| default(value));
        let written = keys.take(None, style, name, value);
        let written = written.and_then(|()| style::pairs(style, name, value));
        pairs.extend(written.map_err(|why| format!("`{name}`: {why}"))?);
    }
    Ok(pairs.join("&"))
}

fn default(value: &Value) -> Style {
    let is_nested = |it: &Value| it.is_array() || it.is_object();
    match value {
        Value::Object(_) => Style::Json,
        Value::Array(items) if items.iter().any(is_nested) => Style::Json,
        _ => Style::Form { explode: true, reserved: false },
    }
}
