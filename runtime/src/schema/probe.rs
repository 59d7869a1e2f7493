//! Whether a type takes what its schema takes: found out by reading values when a registry is made.
//!
//! - Values that the schema takes are read, and each part of them once more with something odd in
//!   its place. Where type and schema disagree, either the schema is corrected, or the type is held to
//!   its schema at every call, or the registry is not made.
//! - A value of the wrong kind makes the reader say which names the type asked for, and with them
//!   the aliases that no schema shows.
//! - A rule of a type's own, such as `try_from`, cannot be seen. A type that refuses a value by its own
//!   rule is not thought to be wrong.

use serde_json::{Map, Value, json};

use super::SchemaProblem;
use super::check::Checker;
use super::key_range;
use super::sample::{Place, Sample, samples};
use super::walk::below;
use crate::input::{Asked, Fault, Reader, Rule, reread};
use crate::spec::Probe;

/// Corrects a schema, which holds its definitions, and tells whether it and the type are known to
/// take the same.
pub(super) fn agree(document: &mut Value, read: Probe) -> Result<bool, SchemaProblem> {
    // Each correction takes something away, so that there is an end; this is for a type that lies.
    let mut exact = true;
    for _ in 0..1_000 {
        let checker = match plain_kind(document) {
            Some(kind) => Validity::Kind(kind),
            None => Validity::Schema(Checker::new(document)?),
        };
        match (Judge { document, checker, read, exact }).run()? {
            Found::Agreed { exact } => return Ok(exact),
            Found::Wrong { at, correction } => {
                // Which keys a map takes is only known from a few of them.
                exact = false;
                correction.apply(document, &at);
            }
        }
    }
    Ok(false)
}

/// Whether a type takes a text.
pub(super) fn takes(read: Probe, text: &str) -> bool {
    fault(read, text).is_none()
}

fn fault(read: Probe, text: &str) -> Option<Fault> {
    let mut reader = Reader::new(text);
    read(&mut reader).and_then(|()| reader.finish()).err()
}

enum Found {
    Agreed { exact: bool },
    Wrong { at: String, correction: Correction },
}

/// What a schema must say besides.
enum Correction {
    /// The keys of a map.
    Keys(Value),
    /// The keys of a map that are integers.
    IntegerKeys(String),
}

/// Not a key, a choice or a text that any type asks for by name.
const ODD: &str = "\u{2603}\u{2603}";

struct Judge<'a> {
    document: &'a Value,
    checker: Validity,
    read: Probe,
    exact: bool,
}

/// Whether a value is what the schema asks for.
enum Validity {
    Schema(Checker),
    /// Nothing is asked for but a kind of scalar. Most parameters are such, and compiling a schema
    /// costs more than all else that is done for them.
    Kind(fn(&Value) -> bool),
}

impl Validity {
    fn is_valid(&self, value: &Value) -> bool {
        match self {
            Self::Schema(checker) => checker.is_valid(value),
            Self::Kind(is_valid) => is_valid(value),
        }
    }
}

/// The kind of scalar that a schema asks for, where it says no more than a primitive type does. The
/// values that are tried are within the bounds of every such type.
fn plain_kind(document: &Value) -> Option<fn(&Value) -> bool> {
    let object = document.as_object()?;
    let is_known = |keyword: &String| ["type", "minimum", "maximum"].contains(&keyword.as_str());
    if !object.keys().all(is_known) {
        return None;
    }
    let includes = |limit: &str, holds: fn(f64) -> bool| {
        object.get(limit).is_none_or(|it| it.as_f64().is_some_and(holds))
    };
    if !includes("minimum", |it| it <= 0.0) || !includes("maximum", |it| it >= 100.0) {
        return None;
    }
    match object.get("type")?.as_str()? {
        "string" => Some(Value::is_string),
        "boolean" => Some(Value::is_boolean),
        "number" => Some(Value::is_number),
        "integer" => Some(|value| value.as_f64().is_some_and(|it| it.fract() == 0.0)),
        _ => None,
    }
}

impl Judge<'_> {
    fn run(mut self) -> Result<Found, SchemaProblem> {
        let samples: Vec<Sample> = samples(self.document)
            .into_iter()
            .filter(|sample| self.checker.is_valid(&sample.value))
            .collect();
        // A schema that no value is known of can only be trusted together with its check.
        self.exact &= !samples.is_empty();
        for sample in &samples {
            // First, as a map whose keys are not known makes every sample of it wrong.
            if let Some(wrong) = sample.places.iter().find_map(|place| self.keys(sample, place)) {
                return Ok(wrong);
            }
            self.compare(sample, &sample.value, true)?;
        }
        let mut seen: Vec<&str> = Vec::new();
        for sample in &samples {
            for place in &sample.places {
                if seen.contains(&place.schema.as_str()) {
                    continue;
                }
                seen.push(&place.schema);
                self.place(sample, place)?;
            }
        }
        Ok(Found::Agreed { exact: self.exact })
    }

    /// Reads the sample with odd values at one place.
    fn place(&mut self, sample: &Sample, place: &Place) -> Result<(), SchemaProblem> {
        self.names(sample, place);
        let odd = [
            json!(null),
            json!(true),
            json!(7),
            json!(2.0),
            json!(1.5),
            json!(ODD),
            json!([]),
            json!({}),
        ];
        for odd in odd {
            let value = with(sample, place, odd);
            self.compare(sample, &value, false)?;
        }
        Ok(())
    }

    /// Compares what type and schema make of one value.
    fn compare(
        &mut self,
        sample: &Sample,
        value: &Value,
        is_sample: bool,
    ) -> Result<(), SchemaProblem> {
        let valid = self.checker.is_valid(value);
        // Where a tag comes decides whether serde reads its content directly or from a buffer.
        for text in [value.to_string(), reversed(value)] {
            match fault(self.read, &text) {
                None => self.exact &= valid,
                Some(fault) if valid => {
                    self.exact = false;
                    if reread(&text, self.read).is_none() {
                        self.narrower(sample, &fault, is_sample)?;
                    }
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// The type refuses what its schema takes.
    fn narrower(
        &self,
        sample: &Sample,
        fault: &Fault,
        is_sample: bool,
    ) -> Result<(), SchemaProblem> {
        let problem = fault.problem();
        let schema = schema_at(sample, &problem.pointer);
        let is_structural = match problem.rule {
            Rule::Type | Rule::UnknownKey | Rule::MissingKey | Rule::Choice | Rule::Null => true,
            // What serde says of types that it cannot read through its buffer.
            Rule::Other => {
                is_sample
                    && (problem.expected.ends_with("128 is not supported")
                        || problem.expected == "matches none of the forms taken here")
            }
            _ => false,
        };
        if !is_structural {
            return Ok(());
        }
        let message = format!(
            "the schema takes what the type refuses ({problem}); make the attributes of schemars say what those of serde say, or choose a type that serde can read here"
        );
        Err(SchemaProblem::new(schema, message))
    }

    /// Compares the names that the type asks for with those of its schema.
    fn names(&mut self, sample: &Sample, place: &Place) {
        let Some(named) = self.named(&place.schema) else { return };
        let value = with(sample, place, json!(true));
        let fault = fault(self.read, &value.to_string());
        let asked = fault
            .filter(|fault| fault.problem().pointer == place.instance)
            .and_then(|fault| fault.asked());
        let (ours, theirs) = match (&named, asked) {
            (Named::Fields(names), Some(Asked::Fields(asked))) => (names, asked),
            (Named::Variants(names), Some(Asked::Variants(asked))) => (names, asked),
            _ => {
                self.exact = false;
                return;
            }
        };
        self.exact &= theirs.iter().all(|name| ours.iter().any(|it| it == name));
    }

    /// The keys or choices that the schema names; none where it names none.
    fn named(&self, at: &str) -> Option<Named> {
        let schema = self.document.pointer(at)?;
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return self.named(reference.strip_prefix('#')?);
        }
        if let Some(only) = schema.get("const") {
            return Some(Named::Variants(only.as_str().map(str::to_owned).into_iter().collect()));
        }
        if let Some(Value::Array(choices)) = schema.get("enum") {
            let names = choices.iter().filter_map(Value::as_str).map(str::to_owned);
            return Some(Named::Variants(names.collect()));
        }
        if let Some(Value::Array(choices)) = schema.get("oneOf") {
            return Some(Named::Variants(choices.iter().flat_map(variant_names).collect()));
        }
        if schema.get("anyOf").is_some() {
            return self.named(&below(&below(at, "anyOf"), "0"));
        }
        let properties = schema.get("properties")?.as_object()?;
        Some(Named::Fields(properties.keys().cloned().collect()))
    }

    /// Finds out which keys a map takes.
    fn keys(&mut self, sample: &Sample, place: &Place) -> Option<Found> {
        let schema = self.document.pointer(&place.schema)?.as_object()?;
        let is_map = |keyword: &str| schema.get(keyword).is_some_and(|it| *it != false);
        if !is_map("additionalProperties") && !is_map("patternProperties") {
            return None;
        }
        if schema.contains_key("propertyNames") {
            return None;
        }
        let object = sample.value.pointer(&place.instance)?.as_object()?;
        let fault_of = |key: &str| {
            let any = object.values().next_back().cloned().unwrap_or_default();
            let value = with(sample, place, json!({key: any}));
            // A wrong value is told at the same place; a wrong key shows itself.
            let is_of_key = |it: &Fault| {
                let problem = it.problem();
                problem.pointer == below(&place.instance, key)
                    && problem.found.trim_matches('"') == key
            };
            fault(self.read, &value.to_string()).filter(is_of_key)
        };
        let refused = fault_of(ODD)?;
        let correction = match refused.asked() {
            Some(Asked::IntegerKey(minimum, maximum)) => {
                let pattern = key_range::pattern(minimum, maximum, fault_of("0").is_none());
                let patterns = schema.get("patternProperties").and_then(Value::as_object);
                if patterns.is_some_and(|it| it.contains_key(&pattern)) {
                    return None;
                }
                Correction::IntegerKeys(pattern)
            }
            Some(Asked::Variants(names)) if is_map("additionalProperties") => {
                Correction::Keys(json!({"enum": names}))
            }
            Some(Asked::CharKey) => Correction::Keys(json!({"minLength": 1, "maxLength": 1})),
            _ if is_map("additionalProperties") && schema.get("properties").is_none() => {
                let format = FORMATS.iter().find(|(_, key)| fault_of(key).is_none());
                let format = format.map(|(format, _)| json!({"format": format}));
                // Without one the sample itself has been refused, or its one key is taken by chance.
                Correction::Keys(format?)
            }
            _ => return None,
        };
        Some(Found::Wrong { at: place.schema.clone(), correction })
    }
}

/// What keys may be besides text, by a key that only this format takes.
const FORMATS: &[(&str, &str)] = &[
    ("uuid", "6a2f41a3-c54c-fce8-32d2-0324e1c32e22"),
    ("date-time", "2020-01-02T03:04:05Z"),
    ("date", "2020-01-02"),
    ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"),
    ("uri", "https://example.org/"),
];

enum Named {
    Fields(Vec<String>),
    Variants(Vec<String>),
}

/// The names of an externally tagged variant, or of several without contents.
fn variant_names(choice: &Value) -> Vec<String> {
    let text = |it: &Value| it.as_str().map(str::to_owned);
    if let Some(only) = choice.get("const") {
        return text(only).into_iter().collect();
    }
    if let Some(Value::Array(choices)) = choice.get("enum") {
        return choices.iter().filter_map(text).collect();
    }
    let properties = choice.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(Map::keys).cloned().collect()
}

/// The text of a value with the keys of every object from the last to the first.
fn reversed(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(reversed).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(object) => {
            let entries: Vec<String> = object
                .iter()
                .rev()
                .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), reversed(value)))
                .collect();
            format!("{{{}}}", entries.join(","))
        }
        scalar => scalar.to_string(),
    }
}

/// The sample with another value at one place.
fn with(sample: &Sample, place: &Place, value: Value) -> Value {
    let mut whole = sample.value.clone();
    if let Some(part) = whole.pointer_mut(&place.instance) {
        *part = value;
    }
    whole
}

/// The schema of the innermost part that holds `instance`.
fn schema_at<'s>(sample: &'s Sample, instance: &str) -> &'s str {
    let holds = |place: &&Place| {
        instance
            .strip_prefix(&place.instance)
            .is_some_and(|it| it.is_empty() || it.starts_with('/'))
    };
    let innermost = sample.places.iter().filter(holds).max_by_key(|place| place.instance.len());
    innermost.map_or("", |place| &place.schema)
}

impl Correction {
    fn apply(self, document: &mut Value, at: &str) {
        let Some(schema) = document.pointer_mut(at) else { return };
        match self {
            Self::Keys(names) => schema["propertyNames"] = names,
            Self::IntegerKeys(pattern) => {
                let values = schema
                    .get("patternProperties")
                    .and_then(Value::as_object)
                    .and_then(|it| it.values().next())
                    .or_else(|| schema.get("additionalProperties"))
                    .cloned()
                    .unwrap_or(Value::Bool(true));
                schema["patternProperties"] = json!({pattern: values});
                schema["additionalProperties"] = Value::Bool(false);
            }
        }
    }
}
