//! Makes values that a schema should accept. If possible, each schema inside of the schema gets at least one value.
//!
//! - The number of samples grows with the sum of the choices and not with their product: each sample of an object
//!   combines one sample of each property.
//! - A recursive definition is expanded once. Its first sample is used for each occurrence inside of itself.
//! - If there are too many choices, or a value cannot be made, the samples are marked as incomplete.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::nulls::is_null;
use toolwright_core::json::pointer::below;

/// A sample value, with the schemas that constrain its parts.
#[derive(Clone)]
pub(super) struct Sample {
    pub(super) value: Value,
    pub(super) places: Vec<Place>,
}

/// A part of a value and the schema that constrains the part, both as JSON pointers.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) instance: String,
    pub(super) schema: String,
}

/// The samples of one schema.
pub(super) struct Samples {
    pub(super) all: Vec<Sample>,
    /// Whether the samples cover every schema inside of the schema.
    pub(super) is_complete: bool,
}

/// The maximum number of choices for which samples are made.
const MOST: usize = 100;
/// The maximum number of places that are copied when samples are combined.
const MOST_PLACES: usize = 50_000;

pub(super) fn samples(document: &Value) -> Samples {
    make(document, false)
}

/// Makes sample values as [`samples`] does, but skips the variant `null` of each `anyOf` and `oneOf` that has other
/// variants.
pub(super) fn samples_without_null(document: &Value) -> Samples {
    make(document, true)
}

fn make(document: &Value, avoids_null: bool) -> Samples {
    let mut maker = Maker {
        document,
        avoids_null,
        open: Vec::new(),
        least: HashMap::new(),
        is_complete: true,
        left: MOST_PLACES,
    };
    let all = maker.make("");
    Samples { all, is_complete: maker.is_complete }
}

struct Maker<'a> {
    document: &'a Value,
    avoids_null: bool,
    /// The definitions that are being expanded.
    open: Vec<&'a str>,
    /// For each recursive definition, the sample that ends its recursion.
    least: HashMap<&'a str, Sample>,
    is_complete: bool,
    /// The number of places that may still be copied when samples are combined.
    left: usize,
}

impl<'a> Maker<'a> {
    fn make(&mut self, at: &str) -> Vec<Sample> {
        let schema = match self.document.pointer(at) {
            Some(Value::Object(schema)) => schema,
            Some(Value::Bool(true)) => return vec![Sample::of(json!("a"), at)],
            _ => return Vec::new(),
        };
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return self.refer(reference, at);
        }
        if let Some(only) = schema.get("const") {
            return vec![Sample::of(only.clone(), at)];
        }
        if let Some(Value::Array(choices)) = schema.get("enum") {
            return choices.iter().take(MOST).map(|it| Sample::of(it.clone(), at)).collect();
        }
        for keyword in ["oneOf", "anyOf"] {
            if let Some(Value::Array(choices)) = schema.get(keyword)
                && !choices.iter().all(|choice| choice.get("format").is_some())
            {
                return self.choose(schema, &below(at, keyword), choices.len(), at);
            }
        }
        match schema.get("type") {
            Some(Value::String(name)) => self.make_type(name, schema, at),
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                names.flat_map(|name| self.make_type(name, schema, at)).collect()
            }
            _ => vec![Sample::of(json!("a"), at)],
        }
    }

    fn refer(&mut self, reference: &'a str, at: &str) -> Vec<Sample> {
        let Some(target) = reference.strip_prefix('#') else { return Vec::new() };
        let mut made = if self.open.contains(&target) {
            self.least.get(target).cloned().into_iter().collect()
        } else {
            self.define(target)
        };
        // The type may treat the value differently at the reference, so the reference is a separate place.
        for sample in &mut made {
            let place = Place { instance: String::new(), schema: at.to_owned() };
            sample.places.insert(0, place);
        }
        made
    }

    fn define(&mut self, target: &'a str) -> Vec<Sample> {
        self.open.push(target);
        let was_complete = self.is_complete;
        let mut made = self.make(target);
        // The samples are made a second time, because references to the definition inside of itself now have a sample.
        if !self.least.contains_key(target)
            && let Some(first) = made.first().cloned()
        {
            self.least.insert(target, first);
            self.is_complete = was_complete;
            made = self.make(target);
        }
        self.open.pop();
        made
    }

    /// Returns how many samples can be combined from the parts within the limits: at least one.
    fn affordable(&mut self, parts: &[Vec<Sample>]) -> usize {
        let wanted = parts.iter().map(Vec::len).max().unwrap_or(1).max(1);
        let each: usize = parts.iter().filter_map(|it| it.first()).map(|it| it.places.len()).sum();
        let count = wanted.min(MOST).min((self.left / (each + 1)).max(1));
        self.left = self.left.saturating_sub(count * (each + 1));
        self.is_complete &= count == wanted;
        count
    }

    /// Makes samples of each choice, combined with the schema's other keywords.
    fn choose(
        &mut self,
        schema: &Map<String, Value>,
        choices: &str,
        count: usize,
        at: &str,
    ) -> Vec<Sample> {
        let beside = if schema.contains_key("properties") {
            self.object(schema, at).into_iter().next()
        } else {
            None
        };
        let mut made = Vec::new();
        self.is_complete &= count <= MOST;
        for index in 0..count.min(MOST) {
            let choice = below(choices, &index.to_string());
            if self.avoids_null && count > 1 && self.document.pointer(&choice).is_some_and(is_null)
            {
                continue;
            }
            for mut sample in self.make(&choice) {
                // The choices are recorded as one place, because they are alternatives for the same value.
                sample.places.retain(|place| !place.instance.is_empty());
                sample.places.push(Place { instance: String::new(), schema: at.to_owned() });
                made.push(match &beside {
                    Some(beside) => beside.clone().merge(sample),
                    None => sample,
                });
            }
        }
        made
    }

    fn make_type(&mut self, name: &str, schema: &Map<String, Value>, at: &str) -> Vec<Sample> {
        match name {
            "object" => self.object(schema, at),
            "array" => self.array(schema, at),
            "string" => strings(schema).into_iter().map(|it| Sample::of(it, at)).collect(),
            "integer" | "number" => vec![Sample::of(number(schema), at)],
            "boolean" => vec![Sample::of(json!(true), at)],
            "null" => vec![Sample::of(Value::Null, at)],
            _ => Vec::new(),
        }
    }

    fn object(&mut self, schema: &Map<String, Value>, at: &str) -> Vec<Sample> {
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut entries: Vec<(String, Vec<Sample>)> = Vec::new();
        for name in
            schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys)
        {
            let made = self.make(&below(&below(at, "properties"), name));
            match (made.is_empty(), required.contains(&name.as_str())) {
                (true, true) => {
                    self.is_complete = false;
                    return Vec::new();
                }
                (true, false) => self.is_complete = false,
                (false, _) => entries.push((name.clone(), made)),
            }
        }
        for keyword in ["additionalProperties", "unevaluatedProperties"] {
            if schema.get(keyword).is_some_and(Value::is_object) {
                entries.push((key(schema), self.make(&below(at, keyword))));
            }
        }
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        for pattern in patterns.into_iter().flat_map(Map::keys) {
            let made = self.make(&below(&below(at, "patternProperties"), pattern));
            entries.push(("1".to_owned(), made));
        }
        let (names, parts): (Vec<String>, Vec<Vec<Sample>>) = entries.into_iter().unzip();
        let together = |is_left_out: &dyn Fn(&str) -> bool, index: usize| {
            let mut whole = Sample::of(json!({}), at);
            for (name, made) in names.iter().zip(&parts).filter(|(name, _)| !is_left_out(name)) {
                if let Some(sample) = made.get(index.min(made.len().saturating_sub(1))) {
                    whole.put(name, sample);
                }
            }
            whole
        };
        let count = self.affordable(&parts);
        let mut samples: Vec<Sample> =
            (0..count).map(|index| together(&|_| false, index)).collect();
        let can_be_left_out = |name: &str| !required.contains(&name);
        if names.iter().any(|name| can_be_left_out(name)) {
            samples.push(together(&can_be_left_out, 0));
        }
        samples
    }

    fn array(&mut self, schema: &Map<String, Value>, at: &str) -> Vec<Sample> {
        let mut first: Vec<Vec<Sample>> = Vec::new();
        let tuple = schema.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
        for index in 0..tuple {
            first.push(self.make(&below(&below(at, "prefixItems"), &index.to_string())));
        }
        let items = self.make(&below(at, "items"));
        let are_some = schema.get("items").is_some_and(|it| *it != false);
        self.is_complete &= !are_some || !items.is_empty();
        let count = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
        let least = count("minItems").map_or(1, |it| it.clamp(1, 64) as usize);
        if tuple == 0 && !items.is_empty() && count("maxItems") != Some(0) {
            first = vec![items; least];
        }
        if first.iter().any(Vec::is_empty) {
            self.is_complete = false;
            return Vec::new();
        }
        let count = self.affordable(&first);
        let together = |index: usize| {
            let mut whole = Sample::of(json!([]), at);
            for made in &first {
                if let Some(sample) = made.get(index.min(made.len() - 1)) {
                    whole.push(sample);
                }
            }
            whole
        };
        (0..count).map(together).collect()
    }
}

impl Sample {
    fn of(value: Value, at: &str) -> Self {
        let root = Place { instance: String::new(), schema: at.to_owned() };
        Self { value, places: vec![root] }
    }

    fn put(&mut self, name: &str, part: &Self) {
        self.value[name] = part.value.clone();
        self.hold(&below("", name), part);
    }

    fn push(&mut self, part: &Self) {
        if let Some(items) = self.value.as_array_mut() {
            let place = format!("/{}", items.len());
            items.push(part.value.clone());
            self.hold(&place, part);
        }
    }

    fn hold(&mut self, at: &str, part: &Self) {
        self.places.extend(part.places.iter().map(|place| Place {
            instance: format!("{at}{}", place.instance),
            schema: place.schema.clone(),
        }));
    }

    /// Merges two objects. A value of another type replaces the first value.
    fn merge(mut self, other: Self) -> Self {
        match (&mut self.value, other.value) {
            (Value::Object(ours), Value::Object(theirs)) => ours.extend(theirs),
            (ours, theirs) => *ours = theirs,
        }
        self.places.extend(other.places);
        self
    }
}

/// Makes a key that a map accepts.
fn key(schema: &Map<String, Value>) -> String {
    let Some(Value::Object(names)) = schema.get("propertyNames") else { return "k".to_owned() };
    let choices = names.get("enum").and_then(Value::as_array);
    let first = choices.and_then(|it| it.first()).cloned();
    let name = first.or_else(|| strings(names).into_iter().next());
    name.and_then(|it| it.as_str().map(str::to_owned)).unwrap_or_default()
}

fn number(schema: &Map<String, Value>) -> Value {
    if let Some(step) = schema.get("multipleOf") {
        return step.clone();
    }
    let limit = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let low = limit("minimum").or(limit("exclusiveMinimum").map(|it| it + 1.0));
    let high = limit("maximum").or(limit("exclusiveMaximum").map(|it| it - 1.0));
    match (low, high) {
        (Some(low), _) if low > 1.0 => schema.get("minimum").cloned().unwrap_or(json!(low)),
        (_, Some(high)) if high < 1.0 => schema.get("maximum").cloned().unwrap_or(json!(high)),
        _ => json!(1),
    }
}

/// Makes strings. If the schema has a pattern, the strings are guesses, of which at least one may match.
fn strings(schema: &Map<String, Value>) -> Vec<Value> {
    let text = |text: &str| vec![Value::from(text)];
    match schema.get("format").and_then(Value::as_str) {
        Some("date-time") => return text("2020-01-02T03:04:05Z"),
        Some("date") => return text("2020-01-02"),
        Some("time") => return text("03:04:05Z"),
        Some("duration") => return text("PT1H"),
        Some("uuid") => return text("6a2f41a3-c54c-fce8-32d2-0324e1c32e22"),
        Some("ipv4") => return text("192.0.2.1"),
        Some("ipv6") => return text("2001:db8::1"),
        Some("uri" | "iri") => return text("https://example.org/"),
        Some("email") => return text("user@example.org"),
        _ => {}
    }
    if schema.contains_key("anyOf") {
        return text("192.0.2.1");
    }
    if schema.contains_key("pattern") {
        let known = ["a", "A", "1", "a1", "03:04:05", "2020-01-02T03:04:05", ""].map(Value::from);
        let examples = schema.get("examples").and_then(Value::as_array).into_iter().flatten();
        return schema.get("default").into_iter().chain(examples).cloned().chain(known).collect();
    }
    let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(1);
    let most = schema.get("maxLength").and_then(Value::as_u64).unwrap_or(u64::MAX);
    text(&"a".repeat(least.max(1).min(most).min(1_000) as usize))
}
