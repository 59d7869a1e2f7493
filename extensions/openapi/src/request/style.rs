//! Encodes a value in the style of its parameter: RFC 6570 and the additions of `OpenAPI`. The functions are pure.

use serde_json::Value;

use super::encode;
use crate::operation::Style;

pub(super) fn in_path(style: Style, name: &str, value: &Value) -> Result<String, String> {
    let name = encode::value(name);
    let (prefix, separator, explode, named) = match style {
        Style::Json => return Ok(encode::value(&value.to_string())),
        Style::Label { explode } => (".", if explode { "." } else { "," }, explode, false),
        Style::Matrix { explode } => (";", if explode { ";" } else { "," }, explode, true),
        Style::Simple { explode } => ("", ",", explode, false),
        Style::Form { .. } | Style::Delimited { .. } | Style::Deep => {
            return Err("its style is not one for a path".to_owned());
        }
    };
    let parts = Parts::of(value)?.encode_with(encode::value);
    let body = match parts {
        Parts::One(text) if named && text.is_empty() => name.clone(),
        Parts::One(text) if named => format!("{name}={text}"),
        Parts::One(text) => text,
        Parts::List(items) if items.is_empty() => return Ok(String::new()),
        Parts::List(items) if named && explode => {
            items.iter().map(|it| format!("{name}={it}")).collect::<Vec<_>>().join(separator)
        }
        Parts::List(items) if named => format!("{name}={}", items.join(separator)),
        Parts::List(items) => items.join(separator),
        Parts::Fields(fields) if fields.is_empty() => return Ok(String::new()),
        Parts::Fields(fields) if explode => join(&fields, "=", separator),
        Parts::Fields(fields) if named => format!("{name}={}", join(&fields, ",", separator)),
        Parts::Fields(fields) => join(&fields, ",", separator),
    };
    Ok(format!("{prefix}{body}"))
}

/// Formats a value for a header, where nothing is percent-encoded.
pub(super) fn in_header(style: Style, value: &Value) -> Result<String, String> {
    let explode = match style {
        Style::Json => return Ok(value.to_string()),
        Style::Simple { explode } => explode,
        _ => return Err("its style is not one for a header".to_owned()),
    };
    let parts = Parts::of(value)?;
    let delimits = |text: &String| text.contains(',') || (explode && text.contains('='));
    let has_delimiter = match &parts {
        Parts::One(_) => false,
        Parts::List(items) => items.iter().any(|it| it.contains(',')),
        Parts::Fields(fields) => {
            fields.iter().any(|(key, value)| delimits(key) || value.contains(','))
        }
    };
    if has_delimiter {
        return Err(
            "a list in a header is separated by commas, so that no item can have one".to_owned()
        );
    }
    Ok(match parts {
        Parts::One(text) => text,
        Parts::List(items) => items.join(","),
        Parts::Fields(fields) => join(&fields, if explode { "=" } else { "," }, ","),
    })
}

/// Encodes a value as pairs `key=value` for a query, a form or a cookie.
pub(super) fn pairs(style: Style, name: &str, value: &Value) -> Result<Vec<String>, String> {
    let key = encode::value(name);
    let pair = |text: &str| format!("{key}={text}");
    Ok(match style {
        Style::Json => vec![pair(&encode::value(&value.to_string()))],
        Style::Deep => {
            let mut found = Vec::new();
            deep(&key, value, &mut found);
            found
        }
        Style::Delimited { by } => match Parts::of(value)?.encode_with(encode::value) {
            Parts::One(text) => vec![pair(&text)],
            Parts::List(items) => vec![pair(&items.join(by))],
            Parts::Fields(fields) => vec![pair(&join(&fields, by, by))],
        },
        Style::Form { explode, reserved } => {
            // A comma separates the items of a list, so commas in items have to be encoded.
            let reserved = reserved && !(value.is_array() || value.is_object());
            let encoded = if reserved { encode::reserved } else { encode::value };
            match Parts::of(value)?.encode_with(encoded) {
                Parts::One(text) => vec![pair(&text)],
                Parts::List(items) if explode => items.iter().map(|it| pair(it)).collect(),
                Parts::List(items) => vec![pair(&items.join(","))],
                Parts::Fields(fields) if explode => {
                    fields.iter().map(|(key, value)| format!("{key}={value}")).collect()
                }
                Parts::Fields(fields) => vec![pair(&join(&fields, ",", ","))],
            }
        }
        Style::Simple { .. } | Style::Label { .. } | Style::Matrix { .. } => {
            return Err("its style is not one for a query".to_owned());
        }
    })
}

/// Encodes a value with keys in brackets at every level, as in `a[b][c]=1`. The index of each item of a list is a key
/// too, so that the fields of different items stay separate.
fn deep(key: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                deep(&format!("{key}%5B{}%5D", encode::value(name)), value, found);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                deep(&format!("{key}%5B{index}%5D"), value, found);
            }
        }
        Value::Null => {}
        one => found.push(format!("{key}={}", encode::value(&plain(one)))),
    }
}

/// A value without nested values.
enum Parts {
    One(String),
    List(Vec<String>),
    Fields(Vec<(String, String)>),
}

impl Parts {
    fn of(value: &Value) -> Result<Self, String> {
        let one = |value: &Value| match value {
            Value::Object(_) | Value::Array(_) => {
                Err("it contains lists or objects, which its style cannot represent".to_owned())
            }
            other => Ok(plain(other)),
        };
        Ok(match value {
            Value::Array(items) => Self::List(items.iter().map(one).collect::<Result<_, _>>()?),
            Value::Object(fields) => {
                let given = fields.iter().filter(|(_, value)| !value.is_null());
                let pairs = given.map(|(key, value)| Ok((key.clone(), one(value)?)));
                Self::Fields(pairs.collect::<Result<_, String>>()?)
            }
            other => Self::One(plain(other)),
        })
    }

    fn encode_with(self, encode: impl Fn(&str) -> String) -> Self {
        match self {
            Self::One(text) => Self::One(encode(&text)),
            Self::List(items) => Self::List(items.iter().map(|it| encode(it)).collect()),
            Self::Fields(fields) => {
                let pairs = fields.iter().map(|(key, value)| (encode::value(key), encode(value)));
                Self::Fields(pairs.collect())
            }
        }
    }
}

fn join(fields: &[(String, String)], between: &str, after: &str) -> String {
    let pairs = fields.iter().map(|(key, value)| format!("{key}{between}{value}"));
    pairs.collect::<Vec<_>>().join(after)
}

/// Returns a value as text. The value must be neither a list nor an object.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
