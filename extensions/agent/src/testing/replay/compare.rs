//! Compares a request with the recorded one, and finds the first difference.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use serde_json::Value;

use super::Placeholders;

/// The locations of ids in providers' requests; `#` means any index.
const IDS: [&str; 8] = [
    "/messages/#/content/#/id",
    "/messages/#/content/#/tool_use_id",
    "/messages/#/tool_calls/#/id",
    "/messages/#/tool_call_id",
    "/input/#/id",
    "/input/#/call_id",
    "/contents/#/parts/#/functionCall/id",
    "/contents/#/parts/#/functionResponse/id",
];

/// The JSON pointers below which a request has its messages. Only there do the patterns of [`Placeholders`] apply.
const MESSAGES: [&str; 3] = ["/messages/", "/input/", "/contents/"];

/// The maximum number of characters that an error shows of a text.
const SHOWN: usize = 60;

/// The first difference between a request and the recorded one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The JSON pointer to the difference; empty for the whole body.
    pub pointer: String,
    /// The recorded value, shortened.
    pub recorded: String,
    /// The received value, shortened.
    pub received: String,
}

/// The comparison of all requests of one recording. It remembers renamed ids, because an id has to be renamed in the
/// same way everywhere.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    received_by_recorded: HashMap<String, String>,
    recorded_by_received: HashMap<String, String>,
}

impl Comparison {
    /// Returns the first difference, in alphabetical order of the keys.
    pub(super) fn difference(
        &mut self,
        recorded: &Value,
        received: &Value,
        placeholders: &Placeholders,
    ) -> Option<Difference> {
        self.at(&mut Place::default(), recorded, received, placeholders)
    }

    fn at(
        &mut self,
        place: &mut Place,
        recorded: &Value,
        received: &Value,
        placeholders: &Placeholders,
    ) -> Option<Difference> {
        match (recorded, received) {
            (Value::Object(one), Value::Object(other)) => {
                let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
                keys.into_iter().find_map(|key| {
                    place.within(key, None, |place| {
                        self.both(place, one.get(key), other.get(key), placeholders)
                    })
                })
            }
            (Value::Array(one), Value::Array(other)) => {
                (0..one.len().max(other.len())).find_map(|index| {
                    place.within(&index.to_string(), Some("#"), |place| {
                        self.both(place, one.get(index), other.get(index), placeholders)
                    })
                })
            }
            (Value::String(one), Value::String(other)) => {
                let fits = if place.is_id() {
                    self.is_renamed(one, other)
                } else {
                    placeholders.fits(one, other, place.is_in_messages())
                };
                (!fits).then(|| {
                    let (recorded, received) = excerpts(one, &place.shown(other, placeholders));
                    Difference { pointer: place.pointer.clone(), recorded, received }
                })
            }
            _ if recorded == received => None,
            _ => Some(place.differs(&short(recorded), &short(received))),
        }
    }

    fn both(
        &mut self,
        place: &mut Place,
        recorded: Option<&Value>,
        received: Option<&Value>,
        placeholders: &Placeholders,
    ) -> Option<Difference> {
        match (recorded, received) {
            (Some(recorded), Some(received)) => self.at(place, recorded, received, placeholders),
            (Some(recorded), None) => Some(place.differs(&short(recorded), "nothing")),
            (None, Some(received)) => Some(place.differs("nothing", &short(received))),
            (None, None) => None,
        }
    }

    /// Records a pair of ids, and returns whether the pair is consistent with all earlier pairs.
    fn is_renamed(&mut self, recorded: &str, received: &str) -> bool {
        let one = self.received_by_recorded.entry(recorded.to_owned());
        let other = self.recorded_by_received.entry(received.to_owned());
        *one.or_insert_with(|| received.to_owned()) == received
            && *other.or_insert_with(|| recorded.to_owned()) == recorded
    }
}

/// The location in the body that is compared.
#[derive(Default)]
struct Place {
    pointer: String,
    /// The JSON pointer with `#` in place of every index.
    form: String,
}

impl Place {
    fn within<T>(
        &mut self,
        key: &str,
        form: Option<&str>,
        inside: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = (self.pointer.len(), self.form.len());
        let key = key.replace('~', "~0").replace('/', "~1");
        self.pointer.extend(["/", &key]);
        self.form.extend(["/", form.unwrap_or(&key)]);
        let result = inside(self);
        self.pointer.truncate(before.0);
        self.form.truncate(before.1);
        result
    }

    fn is_id(&self) -> bool {
        IDS.contains(&self.form.as_str())
    }

    fn is_in_messages(&self) -> bool {
        MESSAGES.iter().any(|it| self.form.starts_with(it))
    }

    /// Returns a received text, with the placeholders that apply at this location.
    fn shown(&self, received: &str, placeholders: &Placeholders) -> String {
        match self.is_in_messages() && !self.is_id() {
            true => placeholders.recorded(received),
            false => placeholders.named(received),
        }
    }

    fn differs(&self, recorded: &str, received: &str) -> Difference {
        Difference {
            pointer: self.pointer.clone(),
            recorded: recorded.to_owned(),
            received: received.to_owned(),
        }
    }
}

/// Shortens two texts to the parts around their first difference.
fn excerpts(one: &str, other: &str) -> (String, String) {
    const BEFORE: usize = 20;
    let shared = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let from = if shared > BEFORE { shared - BEFORE / 2 } else { 0 };
    let excerpt = |text: &str| {
        let part: String = text.chars().skip(from).take(SHOWN).collect();
        let before = if from > 0 { "…" } else { "" };
        let after = if text.chars().count() > from + SHOWN { "…" } else { "" };
        Value::from(format!("{before}{part}{after}")).to_string()
    };
    (excerpt(one), excerpt(other))
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= SHOWN {
        return text;
    }
    let part: String = text.chars().take(SHOWN).collect();
    format!("{part}…")
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pointer, recorded, received } = self;
        let place = if pointer.is_empty() { "the top" } else { pointer };
        write!(formatter, "at {place}: recorded {recorded}, received {received}")
    }
}

#[cfg(test)]
mod tests;
