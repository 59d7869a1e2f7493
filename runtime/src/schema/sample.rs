//! Values that a schema takes, so many that each schema inside it is met by one of them.
//!
//! - Their number is the sum of the choices, not their product.
//! - A schema that refers to itself is made once; below that, what can be left out is.

use serde_json::{Map, Value, json};

use super::walk::below;

/// A value, and which schema asks for which of its parts.
#[derive(Clone)]
pub(super) struct Sample {
    pub(super) value: Value,
    pub(super) places: Vec<Place>,
}

/// A part of a value and the schema that asks for it, both as pointers.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) instance: String,
    pub(super) schema: String,
}

/// Past this many, choices are not tried one by one.
const MOST: usize = 100;

pub(super) fn samples(document: &Value) -> Vec<Sample> {
    Maker { document, open: Vec::new() }.make("")
}

struct Maker<'a> {
    document: &'a Value,
    /// The definitions that are being made.
    open: Vec<&'a str>,
}

impl<'a> Maker<'a> {
    fn make(&mut self, at: &str) -> Vec<Sample> {
        let schema = match self.document.pointer(at) {
            Some(Value::Object(schema)) => schema,
            Some(Value::Bool(true)) => return vec![Sample::of(json!("a"), at)],
            _ => return Vec::new(),
        };
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return self.refer(reference);
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
            Some(Value::String(name)) => self.typed(name, schema, at),
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                names.flat_map(|name| self.typed(name, schema, at)).collect()
            }
            _ => vec![Sample::of(json!("a"), at)],
        }
    }

    fn refer(&mut self, reference: &'a str) -> Vec<Sample> {
        let Some(target) = reference.strip_prefix('#') else { return Vec::new() };
        if self.open.contains(&target) {
            return Vec::new();
        }
        self.open.push(target);
        let made = self.make(target);
        self.open.pop();
        made
    }

    /// Each choice, with what the schema asks for beside it.
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
        for index in 0..count.min(MOST) {
            for mut sample in self.make(&below(choices, &index.to_string())) {
                // Here stands the choice as a whole.
                sample.places.retain(|place| !place.instance.is_empty());
                sample.places.push(Place { instance: String::new(), schema: at.to_owned() });
                made.push(match &beside {
                    Some(beside) => beside.clone().merged(sample),
                    None => sample,
                });
            }
        }
        made
    }

    fn typed(&mut self, name: &str, schema: &Map<String, Value>, at: &str) -> Vec<Sample> {
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
                (true, true) => return Vec::new(),
                (true, false) => {}
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
        let together = |entries: &[(String, Vec<Sample>)], index: usize| {
            let mut whole = Sample::of(json!({}), at);
            for (name, made) in entries {
                if let Some(sample) = made.get(index.min(made.len().saturating_sub(1))) {
                    whole.put(name, sample);
                }
            }
            whole
        };
        let most = entries.iter().map(|(_, made)| made.len()).max().unwrap_or(0).clamp(1, MOST);
        let mut samples: Vec<Sample> = (0..most).map(|index| together(&entries, index)).collect();
        let all = entries.len();
        entries.retain(|(name, _)| required.contains(&name.as_str()));
        if entries.len() < all {
            samples.push(together(&entries, 0));
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
        let count = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
        let least = count("minItems").map_or(1, |it| it.clamp(1, 64) as usize);
        if tuple == 0 && !items.is_empty() && count("maxItems") != Some(0) {
            first = vec![items; least];
        }
        if first.iter().any(Vec::is_empty) {
            return Vec::new();
        }
        let most = first.iter().map(Vec::len).max().unwrap_or(1).min(MOST);
        let together = |index: usize| {
            let mut whole = Sample::of(json!([]), at);
            for made in &first {
                if let Some(sample) = made.get(index.min(made.len() - 1)) {
                    whole.push(sample);
                }
            }
            whole
        };
        (0..most).map(together).collect()
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

    /// One object of both; something else takes the place of an object.
    fn merged(mut self, other: Self) -> Self {
        match (&mut self.value, other.value) {
            (Value::Object(ours), Value::Object(theirs)) => ours.extend(theirs),
            (ours, theirs) => *ours = theirs,
        }
        self.places.extend(other.places);
        self
    }
}

/// A key that a map takes.
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

/// Strings of which one may have the schema's form.
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
        Some("email") => return text("somebody@example.org"),
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
