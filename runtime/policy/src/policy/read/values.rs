//! Reads the values of a policy file in their expected types, or reports a problem at the place of the value.

use serde::de::DeserializeOwned;
use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::super::problem::{At, suggestion};
use super::{Reader, Written};
use toolwright_core::json::tree::write_quoted;

impl Reader<'_> {
    /// Checks that a table has no other keys than these.
    pub(super) fn keys(&mut self, table: &DeTable<'_>, known: &[&str], what: &str) {
        for (key, _) in table.iter() {
            if !known.contains(&key.get_ref().as_ref()) {
                let near = suggestion(key.get_ref(), known.iter().copied());
                self.wrong(&key.span(), format!("{what} has no key `{}`{near}", key.get_ref()));
            }
        }
    }

    pub(super) fn report_kind(&mut self, value: &Written<'_>, key: &str, expected: &str) {
        let found = value.get_ref().type_str();
        let found = match value.get_ref().as_str() {
            Some(text) => format!("`{text}`"),
            None => format!("a value of the kind {found}"),
        };
        self.wrong(&value.span(), format!("`{key}` is {found}; expected {expected}"));
    }

    pub(super) fn text(&mut self, value: &Written<'_>, key: &str) -> Option<At<String>> {
        match value.get_ref().as_str() {
            Some(text) => {
                Some(At { value: text.to_owned(), place: Some(self.place(&value.span())) })
            }
            None => {
                self.report_kind(value, key, "a text");
                None
            }
        }
    }

    /// Reads a text, or a list of texts.
    pub(super) fn texts(&mut self, value: &Written<'_>, key: &str) -> Vec<At<String>> {
        match value.get_ref().as_array() {
            Some(items) => items.iter().filter_map(|item| self.text(item, key)).collect(),
            None if value.get_ref().is_str() => self.text(value, key).into_iter().collect(),
            None => {
                self.report_kind(value, key, "a text or a list of texts");
                Vec::new()
            }
        }
    }

    pub(super) fn word<T: DeserializeOwned>(
        &mut self,
        value: &Written<'_>,
        key: &str,
        known: &[&str],
    ) -> Option<At<T>> {
        let word = self.text(value, key)?;
        match serde_json::from_value(Value::String(word.value.clone())) {
            Ok(found) => Some(At { value: found, place: word.place }),
            Err(_) => {
                let near = suggestion(&word.value, known.iter().copied());
                self.wrong(&value.span(), format!("`{}` is no `{key}`{near}", word.value));
                None
            }
        }
    }

    pub(super) fn words<T: DeserializeOwned>(
        &mut self,
        value: &Written<'_>,
        key: &str,
        known: &[&str],
    ) -> Vec<T> {
        let items = match value.get_ref().as_array() {
            Some(items) => items.iter().collect(),
            None => vec![value],
        };
        let words = items.into_iter().filter_map(|it| self.word(it, key, known));
        words.map(|it| it.value).collect()
    }

    pub(super) fn jsons(&mut self, value: &Written<'_>, key: &str) -> Vec<At<String>> {
        match value.get_ref().as_array() {
            Some(items) => items.iter().filter_map(|item| self.json(item)).collect(),
            None => {
                self.report_kind(value, key, "a list");
                Vec::new()
            }
        }
    }

    /// Converts a value of the file to JSON text, with the digits of numbers unchanged.
    pub(super) fn json(&mut self, value: &Written<'_>) -> Option<At<String>> {
        let mut text = String::new();
        match write_json(value.get_ref(), &mut text) {
            Ok(()) => Some(At { value: text, place: Some(self.place(&value.span())) }),
            Err(message) => {
                self.wrong(&value.span(), message);
                None
            }
        }
    }
}

fn write_json(value: &DeValue<'_>, out: &mut String) -> Result<(), String> {
    match value {
        DeValue::String(text) => write_quoted(text, out),
        DeValue::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
        DeValue::Integer(number) if number.radix() == 10 => {
            out.push_str(number.as_str().trim_start_matches('+'));
        }
        DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
            Ok(value) => out.push_str(&value.to_string()),
            Err(_) => {
                return Err(format!(
                    "the number {number} is too large: write it as a decimal number"
                ));
            }
        },
        DeValue::Float(number) => {
            let digits = number.as_str().trim_start_matches('+');
            if !digits.trim_start_matches('-').starts_with(|it: char| it.is_ascii_digit()) {
                return Err(format!("`{digits}` is no number that arguments can have"));
            }
            out.push_str(digits);
        }
        DeValue::Datetime(_) => {
            return Err("arguments have no dates: write it as text, in quotes".to_owned());
        }
        DeValue::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_json(item.get_ref(), out)?;
            }
            out.push(']');
        }
        DeValue::Table(entries) => {
            out.push('{');
            for (index, (key, value)) in entries.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_quoted(key.get_ref(), out);
                out.push(':');
                write_json(value.get_ref(), out)?;
            }
            out.push('}');
        }
    }
    Ok(())
}
