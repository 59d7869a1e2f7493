//! Reads one keyword of a schema: copies it, converts it to 2020-12, or reports a problem.

use serde_json::{Map, Value, json};

use super::{Reading, pattern};
use crate::foreign::keywords::{self, Shape};
use crate::schema::is_machine_format;
use toolwright_core::input::shorten;

impl<'a> Reading<'a> {
    /// Reads a keyword of `source` into `schema`. The current place is that of the keyword.
    pub(super) fn keyword(
        &mut self,
        source: &'a Map<String, Value>,
        schema: &mut Map<String, Value>,
        keyword: &'a str,
        value: &'a Value,
    ) {
        match (keyword, value) {
            // `type` and `nullable` are read after all other keywords.
            ("type" | "nullable", _) => {}
            ("$ref" | "$dynamicRef" | "$recursiveRef", _) => self.reference(schema, value),
            ("items", Value::Array(items)) => self.positions(source, schema, items),
            ("additionalItems", _) => match source.get("items") {
                Some(Value::Array(_)) => self.insert_value(schema, "items", Shape::Schema, value),
                _ => self.note("`additionalItems` says nothing unless `items` is a list; left out"),
            },
            ("exclusiveMinimum", Value::Bool(on)) => self.exclusive(source, schema, *on, "minimum"),
            ("exclusiveMaximum", Value::Bool(on)) => self.exclusive(source, schema, *on, "maximum"),
            ("minimum", _) if source.get("exclusiveMinimum") == Some(&Value::Bool(true)) => {}
            ("maximum", _) if source.get("exclusiveMaximum") == Some(&Value::Bool(true)) => {}
            ("divisibleBy", _) if !source.contains_key("multipleOf") => {
                self.insert_value(schema, "multipleOf", Shape::Step, value);
            }
            ("dependencies", Value::Object(entries)) => self.dependencies(source, schema, entries),
            ("example", example) if !source.contains_key("examples") => {
                schema.insert("examples".into(), json!([example]));
            }
            ("required", Value::Bool(_)) => self.problem(
                "`required` is at the property, as in draft 3, expected a list of names in the \
                 object that has the property; name the property there",
            ),
            ("format", Value::String(format)) if is_machine_format(format) => {}
            _ => self.plain(schema, keyword, value),
        }
    }

    fn plain(&mut self, schema: &mut Map<String, Value>, keyword: &'a str, value: &'a Value) {
        if let Some(shape) = keywords::assertion(keyword) {
            // Some languages write `null` for an empty list. Servers written in them send `null` for a keyword that is
            // not set.
            if value.is_null() && shape != Shape::Value {
                self.note(format!("`{keyword}` is null, which says nothing; left out"));
                return;
            }
            self.insert_value(schema, keyword, shape, value);
        } else if let Some(shape) = keywords::annotation(keyword) {
            // Values are not checked against annotations, so a wrong annotation does not make the tool unusable.
            if fits(shape, value) {
                self.insert_value(schema, keyword, shape, value);
            } else {
                let (found, expected) = (shorten(&value.to_string()), shape.expected());
                self.note(format!("`{keyword}` is {found}, expected {expected}; left out"));
            }
        } else if !keywords::is_identity(keyword) {
            let near = keywords::near(keyword)
                .map(|near| format!("; did you mean `{near}`?"))
                .unwrap_or_default();
            self.note(format!("`{keyword}` is no keyword of JSON Schema, so it is left out{near}"));
        }
    }

    /// Inserts the value of `keyword` into the schema, if the value has the required form.
    fn insert_value(
        &mut self,
        schema: &mut Map<String, Value>,
        keyword: &str,
        shape: Shape,
        value: &'a Value,
    ) {
        if !fits(shape, value) {
            let found = shorten(&value.to_string());
            self.problem(format!("found {found}, expected {}", shape.expected()));
            return;
        }
        let choice = keywords::is_in_place(keyword) && keyword != "allOf";
        self.choices += usize::from(choice);
        let read = match (shape, value) {
            (Shape::Schema, part) => Some(self.schema(part)),
            (Shape::SchemaList, Value::Array(parts)) => self.list(parts),
            (Shape::SchemaMap | Shape::PatternMap, Value::Object(parts)) => {
                Some(self.map(shape, parts))
            }
            (Shape::Count, count) => Some(whole(count)),
            (Shape::Names, Value::Array(names)) => Some(self.once(names)),
            (Shape::NamesMap, Value::Object(lists)) => {
                let lists = lists.iter().map(|(name, names)| {
                    let names = names.as_array().map(|names| self.once(names));
                    (name.clone(), names.unwrap_or_else(|| json!([])))
                });
                Some(Value::Object(lists.collect()))
            }
            (Shape::Pattern, Value::String(pattern)) => {
                self.pattern(pattern);
                Some(value.clone())
            }
            (_, value) => Some(value.clone()),
        };
        self.choices -= usize::from(choice);
        if let Some(read) = read {
            schema.insert(keyword.to_owned(), read);
        }
    }

    fn list(&mut self, parts: &'a [Value]) -> Option<Value> {
        let mut read = Vec::with_capacity(parts.len());
        for (index, part) in parts.iter().enumerate() {
            read.push(self.within(&index.to_string(), |reading| reading.schema(part)));
        }
        if read.is_empty() {
            self.problem("found an empty list, expected at least one schema");
            return None;
        }
        Some(Value::Array(read))
    }

    fn map(&mut self, shape: Shape, parts: &'a Map<String, Value>) -> Value {
        let mut read = Map::new();
        for (name, part) in parts {
            let schema = self.within(name, |reading| {
                if shape == Shape::PatternMap {
                    reading.pattern(name);
                }
                reading.schema(part)
            });
            read.insert(name.clone(), schema);
        }
        Value::Object(read)
    }

    fn pattern(&mut self, pattern: &str) {
        self.patterns += 1;
        if self.patterns > pattern::MOST {
            if self.patterns == pattern::MOST + 1 {
                self.problem(format!(
                    "the schema has more than {} regular expressions; send only what the tool needs",
                    pattern::MOST
                ));
            }
            return;
        }
        match pattern::judge(pattern) {
            pattern::Engine::Linear => {}
            pattern::Engine::Backtracking => self.note(
                "the pattern looks around or back, so the input of a call cannot be checked with it, \
                 and a tool with this schema cannot be registered",
            ),
            pattern::Engine::None(reason) => {
                let pattern = shorten(pattern);
                self.problem(format!(
                    "`{pattern}` is no regular expression that can be checked: {reason}"
                ));
            }
        }
    }

    /// Removes repeated names. They have no meaning, and the meta-schema refuses them.
    fn once(&mut self, names: &[Value]) -> Value {
        let mut read: Vec<Value> = Vec::with_capacity(names.len());
        let mut seen = std::collections::HashSet::new();
        for name in names {
            if seen.insert(name.as_str()) {
                read.push(name.clone());
            } else {
                self.note(format!("{name} is named more than once"));
            }
        }
        Value::Array(read)
    }

    /// Reads a list in `items`. In draft 2020-12, such a list is the value of `prefixItems`.
    fn positions(
        &mut self,
        source: &Map<String, Value>,
        schema: &mut Map<String, Value>,
        items: &'a [Value],
    ) {
        if source.contains_key("prefixItems") {
            self.problem("`items` is a list beside `prefixItems`, expected one schema");
        } else if !items.is_empty()
            && let Some(read) = self.list(items)
        {
            schema.insert("prefixItems".into(), read);
        }
    }

    /// Reads the boolean `exclusiveMinimum` or `exclusiveMaximum` of draft 4, which applies to the bound next to it.
    fn exclusive(
        &mut self,
        source: &'a Map<String, Value>,
        schema: &mut Map<String, Value>,
        on: bool,
        bound: &str,
    ) {
        let keyword = if bound == "minimum" { "exclusiveMinimum" } else { "exclusiveMaximum" };
        match source.get(bound) {
            Some(limit) if on => self.insert_value(schema, keyword, Shape::Number, limit),
            None if on => {
                self.note(format!("`{keyword}` says nothing without `{bound}`; left out"));
            }
            _ => {}
        }
    }

    fn dependencies(
        &mut self,
        source: &Map<String, Value>,
        schema: &mut Map<String, Value>,
        entries: &'a Map<String, Value>,
    ) {
        if source.contains_key("dependentRequired") || source.contains_key("dependentSchemas") {
            self.problem(
                "`dependencies` is beside the keywords that replace it; move what it says there",
            );
            return;
        }
        for (name, dependency) in entries {
            self.within(name, |reading| {
                let (keyword, shape) = match dependency {
                    Value::Array(_) => ("dependentRequired", Shape::Names),
                    _ => ("dependentSchemas", Shape::Schema),
                };
                let mut read = Map::new();
                reading.choices += 1;
                reading.insert_value(&mut read, name, shape, dependency);
                reading.choices -= 1;
                let group = schema.entry(keyword).or_insert_with(|| json!({}));
                if let Some(group) = group.as_object_mut() {
                    group.append(&mut read);
                }
            });
        }
    }

    fn reference(&mut self, schema: &mut Map<String, Value>, value: &Value) {
        let Some(target) = value.as_str() else {
            let found = shorten(&value.to_string());
            self.problem(format!("found {found}, expected a reference such as \"#/$defs/name\""));
            return;
        };
        match self.places.resolve(target, &self.at) {
            Ok(place) => {
                if place.is_new {
                    self.waiting.push_back(place.pointer);
                }
                schema.insert("$ref".into(), format!("#/$defs/{}", place.name).into());
            }
            Err(reason) => self.problem(reason),
        }
    }
}

fn fits(shape: Shape, value: &Value) -> bool {
    match (shape, value) {
        // A part that is not a schema is reported when that part itself is read.
        (Shape::Schema | Shape::Value, _) => true,
        (Shape::SchemaList | Shape::Values, value) => value.is_array(),
        (Shape::SchemaMap | Shape::PatternMap, value) => value.is_object(),
        (Shape::Count, value) => whole(value).is_u64(),
        (Shape::Number, value) => value.is_number(),
        (Shape::Step, value) => value.as_f64().is_some_and(|step| step > 0.0),
        (Shape::Flag, value) => value.is_boolean(),
        (Shape::Text | Shape::Pattern, value) => value.is_string(),
        (Shape::Names, Value::Array(names)) => names.iter().all(Value::is_string),
        (Shape::NamesMap, Value::Object(lists)) => {
            lists.values().all(|names| fits(Shape::Names, names))
        }
        (Shape::Names | Shape::NamesMap, _) => false,
    }
}

/// Converts a number such as `2.0` to the integer 2.
fn whole(value: &Value) -> Value {
    match value.as_f64() {
        Some(count) if value.is_f64() && count >= 0.0 && count.fract() == 0.0 && count < 1e15 => {
            json!(count as u64)
        }
        _ => value.clone(),
    }
}
