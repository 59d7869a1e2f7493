//! Resolves the text of a reference to a place in the document, and gives the place a name.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use toolwright_core::input::shorten;

/// The maximum number of places to which references may lead.
const MOST: usize = 2_000;

pub(in crate::foreign) struct Places<'a> {
    document: &'a Value,
    /// The URI of the document itself, with which a reference may begin.
    base: Option<&'a str>,
    /// The place of each anchor; `None` if two places declare the same anchor.
    anchors: BTreeMap<&'a str, Option<String>>,
    /// The places that declare a URI. References below such a place are relative to that URI.
    embedded: Vec<String>,
    names: BTreeMap<String, String>,
    taken: BTreeSet<String>,
}

/// A place to which a reference leads.
pub(in crate::foreign) struct Place {
    pub(in crate::foreign) pointer: String,
    pub(in crate::foreign) name: String,
    pub(in crate::foreign) is_new: bool,
}

impl<'a> Places<'a> {
    pub(in crate::foreign) fn of(document: &'a Value) -> Self {
        let base = document.get("$id").or_else(|| document.get("id")).and_then(Value::as_str);
        let mut places = Self {
            document,
            base: base.map(|base| base.trim_end_matches('#')).filter(|base| !base.is_empty()),
            anchors: BTreeMap::new(),
            embedded: Vec::new(),
            names: BTreeMap::new(),
            taken: BTreeSet::new(),
        };
        places.scan(document, &mut String::new());
        places
    }

    /// Returns the place to which a reference at `from` leads.
    pub(in crate::foreign) fn resolve(
        &mut self,
        reference: &str,
        from: &str,
    ) -> Result<Place, String> {
        let shown = shorten(reference);
        if let Some(own) = self.embedded.iter().find(|own| is_below(from, own)) {
            return Err(format!(
                "the reference `{shown}` starts at the `$id` of {own}; remove that `$id` and refer \
                 from the root of the schema"
            ));
        }
        let local = self.base.and_then(|base| reference.strip_prefix(base)).unwrap_or(reference);
        let fragment = match local.strip_prefix('#') {
            Some(fragment) => decode(fragment),
            None if local.is_empty() => String::new(),
            None => {
                return Err(format!(
                    "the reference `{shown}` leads to another document, which is not fetched; move \
                     what it names into `$defs` and refer to it by `#/$defs/…`"
                ));
            }
        };
        let pointer = if fragment.is_empty() || fragment.starts_with('/') {
            fragment
        } else {
            match self.anchors.get(fragment.as_str()) {
                Some(Some(pointer)) => pointer.clone(),
                Some(None) => return Err(format!("two places have the anchor of `{shown}`")),
                None => {
                    return Err(format!("the reference `{shown}` names no anchor of the schema"));
                }
            }
        };
        if self.document.pointer(&pointer).is_none() {
            return Err(format!("the reference `{shown}` leads nowhere; define what it names"));
        }
        let is_new = !self.names.contains_key(&pointer);
        if is_new && self.names.len() == MOST {
            return Err(format!(
                "the references of the schema lead to more than {MOST} places; send only what the \
                 tool needs"
            ));
        }
        let name = self.name(&pointer).to_owned();
        Ok(Place { pointer, name, is_new })
    }

    /// Returns the name of a place in `$defs`. It is made from the last segment of the place's pointer, so that people
    /// recognise it.
    pub(in crate::foreign) fn name(&mut self, pointer: &str) -> &str {
        let taken = &mut self.taken;
        self.names.entry(pointer.to_owned()).or_insert_with(|| {
            let last = pointer.rsplit('/').next().unwrap_or_default();
            let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
            let mut name: String =
                last.chars().map(|it| if plain(it) { it } else { '_' }).take(60).collect();
            if name.is_empty() {
                name.push_str("root");
            }
            let mut free = name.clone();
            let mut number = 2;
            while !taken.insert(free.clone()) {
                free = format!("{name}_{number}");
                number += 1;
            }
            free
        })
    }

    fn scan(&mut self, value: &'a Value, at: &mut String) {
        let mut step = |places: &mut Self, token: &str, value: &'a Value| {
            if value.is_object() || value.is_array() {
                let length = at.len();
                at.push('/');
                at.push_str(&token.replace('~', "~0").replace('/', "~1"));
                places.scan(value, at);
                at.truncate(length);
            }
        };
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    step(self, &index.to_string(), item);
                }
            }
            Value::Object(object) => {
                for (key, value) in object {
                    step(self, key, value);
                }
                self.identify(object, at);
            }
            _ => {}
        }
    }

    fn identify(&mut self, object: &'a serde_json::Map<String, Value>, at: &str) {
        for keyword in ["$anchor", "$dynamicAnchor", "$id", "id"] {
            let Some(text) = object.get(keyword).and_then(Value::as_str) else { continue };
            let anchor = match keyword {
                "$anchor" | "$dynamicAnchor" => Some(text),
                _ => text.strip_prefix('#'),
            };
            match anchor {
                Some("") => {}
                Some(anchor) => {
                    let place = self.anchors.entry(anchor).or_insert_with(|| Some(at.to_owned()));
                    if place.as_deref() != Some(at) {
                        *place = None;
                    }
                }
                None if keyword == "$id" && !at.is_empty() => self.embedded.push(at.to_owned()),
                None => {}
            }
        }
    }
}

fn is_below(place: &str, own: &str) -> bool {
    place.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Decodes percent escapes such as `%41` in a fragment. Invalid escapes remain unchanged.
fn decode(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = (first == b'%')
            .then(|| after.get(..2))
            .flatten()
            .and_then(|code| std::str::from_utf8(code).ok())
            .and_then(|code| u8::from_str_radix(code, 16).ok());
        match code {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
