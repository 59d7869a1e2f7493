//! Generates values that fit a schema, from a seed. The functions are pure.

use serde_json::{Map, Number, Value};

/// Optional parts that are deeper in a value than this are left out.
const DEPTH: usize = 5;

/// The maximum distance of a whole number from its limit, if the schema has only one limit.
const USUAL: i128 = 1000;

/// The characters of texts: some that are special in JSON, shells, paths and databases, and some beyond ASCII.
const CHARACTERS: &str = "abcxyz019 -_./\\\"'%${}ßλ漢\u{1f980}";

/// Makes a value that fits the schema; the same seed always gives the same value.
///
/// Supports types, `enum`, `const`, limits of numbers, texts and lists, properties, alternatives and references within
/// the schema. Other keywords are ignored, so a value may not fit a schema that has them. For a `pattern` or a
/// `format`, the value is an example or the default of the schema, or any text if the schema has neither.
///
/// ```
/// use serde_json::json;
/// use toolwright_agent::testing::generated;
///
/// let schema = json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "integer", "minimum": 3, "maximum": 5 } } });
/// for seed in 0..100 {
///     assert!((3..=5).contains(&generated(&schema, seed)["n"].as_i64().unwrap()));
///     assert_eq!(generated(&schema, seed), generated(&schema, seed));
/// }
/// ```
#[must_use]
pub fn generated(schema: &Value, seed: u64) -> Value {
    Generator { root: schema, random: fastrand::Rng::with_seed(seed) }.value(schema, 0)
}

struct Generator<'s> {
    root: &'s Value,
    random: fastrand::Rng,
}

impl Generator<'_> {
    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        if let Some(target) = self.target(schema) {
            return self.value(&target, depth + 1);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            return self.one_of(values).cloned().unwrap_or(Value::Null);
        }
        for alternatives in ["anyOf", "oneOf"] {
            if let Some(Value::Array(schemas)) = schema.get(alternatives) {
                let chosen = self.alternative(schemas, depth).cloned().unwrap_or(Value::Null);
                return self.beside(schema, alternatives, chosen, depth);
            }
        }
        if let Some(Value::Array(schemas)) = schema.get("allOf") {
            let all = schemas.iter().fold(Value::Null, |all, one| {
                let one = self.target(one).unwrap_or_else(|| one.clone());
                merged(&all, &one)
            });
            return self.beside(schema, "allOf", all, depth);
        }
        match self.kind(schema, depth).as_str() {
            "null" => Value::Null,
            "boolean" => Value::Bool(self.random.bool()),
            "integer" => self.integer(schema),
            "number" => self.number(schema),
            "array" => self.list(schema, depth),
            "object" => self.object(schema, depth),
            _ => self.text(schema),
        }
    }

    /// Makes a value for the schema without `keyword`, merged with `other`, which was chosen from the schemas under
    /// that keyword.
    fn beside(&mut self, schema: &Value, keyword: &str, other: Value, depth: usize) -> Value {
        let mut rest = schema.clone();
        if let Value::Object(rest) = &mut rest {
            rest.remove(keyword);
        }
        let other = self.target(&other).unwrap_or(other);
        self.value(&merged(&rest, &other), depth + 1)
    }

    /// Returns the schema that a reference points to.
    fn target(&self, schema: &Value) -> Option<Value> {
        let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.root.pointer(pointer).cloned()
    }

    /// Returns one of several schemas. Deep inside a value, returns a schema that is no reference and no object, if
    /// there is one.
    fn alternative<'a>(&mut self, schemas: &'a [Value], depth: usize) -> Option<&'a Value> {
        let is_plain = |it: &&Value| it.get("$ref").is_none() && it["type"] != "object";
        match schemas.iter().find(is_plain) {
            Some(plain) if depth > DEPTH => Some(plain),
            _ => self.one_of(schemas),
        }
    }

    fn kind(&mut self, schema: &Value, depth: usize) -> String {
        match schema.get("type") {
            Some(Value::String(kind)) => kind.clone(),
            Some(Value::Array(kinds)) if depth > DEPTH && kinds.contains(&"null".into()) => {
                "null".to_owned()
            }
            Some(Value::Array(kinds)) => {
                self.one_of(kinds).and_then(Value::as_str).unwrap_or("null").to_owned()
            }
            _ if schema.get("properties").is_some() => "object".to_owned(),
            _ if schema.get("items").is_some() => "array".to_owned(),
            _ => "string".to_owned(),
        }
    }

    fn one_of<'a, T>(&mut self, values: &'a [T]) -> Option<&'a T> {
        (!values.is_empty()).then(|| &values[self.random.usize(..values.len())])
    }

    /// Makes a whole number within the limits.
    fn integer(&mut self, schema: &Value) -> Value {
        let least =
            whole(schema, "minimum", f64::ceil)
                .or(whole(schema, "exclusiveMinimum", f64::floor).map(|it| it + 1));
        let most =
            whole(schema, "maximum", f64::floor)
                .or(whole(schema, "exclusiveMaximum", f64::ceil).map(|it| it - 1));
        let (least, most) = match (least, most) {
            (Some(least), Some(most)) => (least, most),
            (Some(least), None) => (least, least + USUAL),
            (None, Some(most)) => (most - USUAL, most),
            (None, None) => (-USUAL, USUAL),
        };
        let step = whole(schema, "multipleOf", f64::ceil).filter(|it| *it > 0).unwrap_or(1);
        let (first, last) = (-(-least).div_euclid(step), most.div_euclid(step));
        let chosen = match self.random.u8(..8) {
            0 => first,
            1 => last,
            _ => self.random.i128(first..=last.max(first)),
        };
        Number::from_i128(chosen * step).map_or(Value::Null, Value::Number)
    }

    fn number(&mut self, schema: &Value) -> Value {
        if schema.get("multipleOf").is_some() {
            return self.integer(schema);
        }
        let limit = |keyword| schema.get(keyword).and_then(Value::as_f64);
        let least = limit("minimum").or(limit("exclusiveMinimum"));
        let most = limit("maximum").or(limit("exclusiveMaximum"));
        let (least, most) = match (least, most) {
            (Some(least), Some(most)) => (least, most),
            (Some(least), None) => (least, least + 1000.0),
            (None, Some(most)) => (most - 1000.0, most),
            (None, None) => (-1000.0, 1000.0),
        };
        // The limits may be exclusive, so the number is from the middle half of the range.
        let part = 0.25 + self.random.f64() / 2.0;
        let number = least * (1.0 - part) + most * part;
        Number::from_f64(number).map_or(Value::Null, Value::Number)
    }

    fn text(&mut self, schema: &Value) -> Value {
        if schema.get("pattern").is_some() || schema.get("format").is_some() {
            let examples = schema.get("examples").and_then(Value::as_array);
            let example = examples.and_then(|it| self.one_of(it)).or(schema.get("default"));
            if let Some(example) = example {
                return example.clone();
            }
        }
        let length = self.length(schema, "minLength", "maxLength", 12);
        let characters: Vec<char> = CHARACTERS.chars().collect();
        (0..length).filter_map(|_| self.one_of(&characters).copied()).collect::<String>().into()
    }

    fn list(&mut self, schema: &Value, depth: usize) -> Value {
        let usual = if depth > DEPTH { 0 } else { 3 };
        let length = self.length(schema, "minItems", "maxItems", usual);
        let first = schema.get("prefixItems").and_then(Value::as_array);
        let first = first.map_or(&[][..], Vec::as_slice);
        let is_unique = schema.get("uniqueItems") == Some(&Value::Bool(true));
        let any = Value::Object(Map::new());
        let mut items: Vec<Value> = Vec::new();
        // If few values are possible, the list of unique items may stay shorter.
        for _ in 0..length * 8 {
            if items.len() >= length.max(first.len()) {
                break;
            }
            let one = first.get(items.len()).or(schema.get("items")).unwrap_or(&any);
            let item = self.value(one, depth + 1);
            if !is_unique || !items.contains(&item) {
                items.push(item);
            }
        }
        items.into()
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let mut object = Map::new();
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required = schema.get("required").and_then(Value::as_array);
        for (name, property) in properties {
            let is_required = required.is_some_and(|it| it.iter().any(|it| it == name));
            if is_required || (depth <= DEPTH && self.random.bool()) {
                object.insert(name.clone(), self.value(property, depth + 1));
            }
        }
        if let Some(values @ Value::Object(_)) = schema.get("additionalProperties") {
            let usual = if depth > DEPTH { 0 } else { 2 };
            let length = self.length(schema, "minProperties", "maxProperties", usual);
            for number in 0..length.saturating_sub(object.len()) {
                let value = self.value(values, depth + 1);
                object.insert(format!("key{number}"), value);
            }
        }
        object.into()
    }

    /// Chooses a length within the limits of a schema, at most `usual` above the minimum.
    fn length(&mut self, schema: &Value, least: &str, most: &str, usual: usize) -> usize {
        let limit = |keyword| schema.get(keyword).and_then(Value::as_u64);
        let whole = |it: u64| usize::try_from(it).unwrap_or(usize::MAX);
        let least = limit(least).map_or(0, whole);
        let most = limit(most).map_or(usize::MAX, whole).min(least.saturating_add(usual));
        self.random.usize(least..=most.max(least))
    }
}

/// Reads a limit for whole numbers. A limit that is not a whole number is rounded.
fn whole(schema: &Value, keyword: &str, round: fn(f64) -> f64) -> Option<i128> {
    let limit = schema.get(keyword)?;
    let exact = limit.as_i64().map(i128::from).or(limit.as_u64().map(i128::from));
    #[expect(clippy::cast_possible_truncation, reason = "it is clamped")]
    exact.or_else(|| limit.as_f64().map(|it| round(it).clamp(-1e30, 1e30) as i128))
}

/// Merges two schemas: the result has the keywords, properties and required names of both.
fn merged(one: &Value, other: &Value) -> Value {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let mut all = one.clone();
            for (keyword, value) in other {
                let value = match (keyword.as_str(), all.get(keyword)) {
                    ("properties", Some(before)) => merged(before, value),
                    ("required", Some(Value::Array(before))) => {
                        let more = value.as_array().into_iter().flatten();
                        before.iter().chain(more).cloned().collect()
                    }
                    _ => value.clone(),
                };
                all.insert(keyword.clone(), value);
            }
            Value::Object(all)
        }
        (_, other) => other.clone(),
    }
}
