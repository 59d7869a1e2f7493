//! Ensures that the fields of an object do not use a key that belongs to another part of the request. The functions are
//! pure.

use serde_json::Value;

use crate::operation::{Place, Style};

/// The keys that the fields of objects use in a request, and the reserved keys.
pub(super) struct Keys<'s> {
    reserved: &'s [String],
    taken: Vec<(Option<Place>, &'s str)>,
}

impl<'s> Keys<'s> {
    /// Starts with the keys that are reserved for parameters, credentials and the query in the path.
    pub(super) fn new(reserved: &'s [String]) -> Self {
        Self { reserved, taken: Vec::new() }
    }

    /// Reserves the keys that the fields of an object use, in this part of the request; `None` is the body.
    ///
    /// # Errors
    /// When one of the keys is already used, or would be read as a field of another key, because servers read `a[b]` as
    /// the field `b` of `a`.
    pub(super) fn take(
        &mut self,
        place: Option<Place>,
        style: Style,
        name: &str,
        value: &'s Value,
    ) -> Result<(), String> {
        let Some(fields) = value.as_object() else { return Ok(()) };
        let others = || self.reserved.iter().map(String::as_str).filter(|it| *it != name);
        let found = match style {
            Style::Form { explode: true, .. } => fields.keys().find(|field| {
                let taken = self.taken.iter().filter(|(at, _)| *at == place).map(|(_, key)| *key);
                others().chain(taken).any(|it| root(it) == root(field))
            }),
            Style::Deep => fields.keys().find(|field| {
                let key = format!("{name}[{field}]");
                others().any(|it| it.starts_with(&key))
            }),
            _ => return Ok(()),
        };
        if let Some(field) = found {
            return Err(format!("its field `{field}` has the name of another parameter"));
        }
        if style != Style::Deep {
            self.taken.extend(fields.keys().map(|it| (place, it.as_str())));
        }
        Ok(())
    }
}

/// Returns the name before the first bracket of a key.
fn root(key: &str) -> &str {
    key.split('[').next().unwrap_or_default()
}
