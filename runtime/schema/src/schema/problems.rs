//! Describes the validator's errors in our words, with the value that was found and with similar names.

use std::cell::Cell;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value;

use toolwright_core::input::Problem;
use toolwright_core::input::Rule;
use toolwright_core::input::formats;
use toolwright_core::input::words;
use toolwright_core::json::pointer::below;
use toolwright_core::json::pointer::unescape;
use toolwright_core::schema::texts::format_of;
use toolwright_core::schema::words::counts;
use toolwright_core::schema::words::expected;
use toolwright_core::schema::words::in_format;
use toolwright_core::schema::words::number;

/// The maximum number of unknown keys that are reported for one object.
const MOST_KEYS: usize = 100;
/// The maximum number of entries of an array or object that is written out. A larger one is described by its size.
const MOST_SHOWN: usize = 8;
/// The maximum number of parts of a value that is written out. A long text counts as several parts. A larger value is
/// only described as an array or an object.
const HEAVIEST: usize = 64;

/// Describes the errors of the validator.
pub(crate) struct Teller<'v> {
    /// The root of the schema, in which references are resolved.
    pub(crate) source: &'v Value,
    /// Returns all digits of the number at a pointer, if the parsed value has lost some.
    pub(crate) digits: &'v dyn Fn(&str) -> Option<String>,
    pub(crate) entered: EnteredSchema<'v>,
    /// The number of letter comparisons that remain for finding similar words.
    pub(crate) left: &'v Cell<usize>,
}

/// The schema by which a part of the value was examined.
pub(crate) struct EnteredSchema<'v> {
    pub(crate) schema: &'v Value,
    /// The location of the part in the value.
    pub(crate) at: &'v str,
    /// The location of the keyword that led to the schema.
    pub(crate) by: Option<&'v str>,
}

impl Teller<'_> {
    /// Adds the problems that one error of the validator describes.
    pub(crate) fn tell(&self, error: &ValidationError<'_>, found: &mut Vec<Problem>) {
        let schema = self.schema_of(error);
        let wanted = || expected(schema, self.source);
        let at = self.at(error);
        let simple = |rule, wanted: String| {
            let mut problem =
                Problem::new(rule, &self.describe_found(error.instance(), &at), wanted);
            problem.pointer.clone_from(&at);
            problem
        };
        let value = |wanted: String| simple(Rule::Value, wanted);
        let problem = match error.kind() {
            Kind::Required { property } => {
                let key = property.as_str().unwrap_or_default();
                let wanted = schema.get("properties").and_then(|it| it.get(key));
                let wanted = wanted.map(|it| expected(it, self.source));
                let mut problem = Problem::new(Rule::MissingKey, "", wanted.unwrap_or_default());
                problem.pointer = below(&at, key);
                problem
            }
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => {
                let keys = unexpected.iter().take(MOST_KEYS);
                found.extend(keys.map(|key| self.unknown_key(&at, schema, key)));
                return;
            }
            Kind::Type { .. } if error.instance().is_null() => {
                let mut problem = simple(Rule::Null, wanted());
                if self.is_optional(error, &at) {
                    problem.expected.push_str("; leave the key out instead");
                }
                problem
            }
            Kind::Type { .. } => simple(Rule::Type, wanted()),
            Kind::Enum { .. } | Kind::Constant { .. } => {
                self.choice(simple(Rule::Choice, wanted()), error.instance(), schema)
            }
            Kind::Minimum { .. } => simple(Rule::Range, in_range(schema, "minimum")),
            Kind::Maximum { .. } => simple(Rule::Range, in_range(schema, "maximum")),
            Kind::ExclusiveMinimum { limit } => {
                simple(Rule::Range, format!("a number greater than {limit}"))
            }
            Kind::ExclusiveMaximum { limit } => {
                simple(Rule::Range, format!("a number less than {limit}"))
            }
            Kind::MinLength { .. } | Kind::MaxLength { .. } => {
                length(error, at, counts(schema, "minLength", "maxLength", "character"))
            }
            Kind::MinItems { .. } | Kind::MaxItems { .. } => {
                length(error, at, counts(schema, "minItems", "maxItems", "item"))
            }
            Kind::UniqueItems => value("items that differ from each other".to_owned()),
            Kind::MultipleOf { multiple_of } => value(format!("a multiple of {multiple_of}")),
            Kind::Pattern { pattern } => {
                let format = format_of(pattern).and_then(formats::of_format);
                value(
                    format.map_or_else(|| format!("text that matches `{pattern}`"), str::to_owned),
                )
            }
            Kind::Format { format } => {
                let known = formats::of_format(format);
                value(known.map_or_else(|| format!("text in the format {format}"), str::to_owned))
            }
            Kind::PropertyNames { error: wrong } => {
                found.push(wrong_key(&at, wrong, schema, self.source));
                return;
            }
            kind => value(rare(kind, schema)),
        };
        // The keywords `type` and `enum` of one schema may both report the same problem, which is listed once.
        let said = |it: &Problem| it.pointer == problem.pointer && it.expected == problem.expected;
        if !found.last().is_some_and(said) {
            found.push(problem);
        }
    }

    /// Describes a part of a value that matches no branch of a union, or that matches several branches of a `oneOf`.
    pub(crate) fn union(&self, value: &Value, several: bool) -> Problem {
        let EnteredSchema { schema, at, .. } = self.entered;
        let wanted = expected(schema, self.source);
        let simple = |rule, wanted: String| {
            let mut problem = Problem::new(rule, &self.describe_found(value, at), wanted);
            at.clone_into(&mut problem.pointer);
            problem
        };
        if several {
            let wanted = "what fits one of the forms taken here, not several";
            return simple(Rule::Value, wanted.to_owned());
        }
        if value.is_string() && in_format(schema).is_some() {
            return simple(Rule::Value, wanted);
        }
        self.choice(simple(Rule::Type, wanted), value, schema)
    }

    /// Describes a key that is not in the schema.
    fn unknown_key(&self, at: &str, schema: &Value, key: &str) -> Problem {
        let properties = schema.get("properties").and_then(Value::as_object);
        let known: Vec<&str> =
            properties.into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        let mut problem = Problem::unknown_key_within(key, known.iter().copied(), self.left);
        problem.pointer = below(at, &words::shorten(key));
        problem
    }

    /// Adds the choice that is most similar to the value, because it was probably meant.
    fn choice(&self, mut problem: Problem, value: &Value, schema: &Value) -> Problem {
        let constants = ["oneOf", "anyOf"].iter().filter_map(|it| schema.get(it)?.as_array());
        let constants = constants.flatten().filter_map(|it| it.get("const"));
        let choices = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        let choices = choices.chain(constants).filter_map(Value::as_str);
        if let Value::String(text) = value {
            problem.near = words::nearest_within(text, choices, self.left);
        }
        problem
    }

    /// Returns the location of an error in the value.
    fn at(&self, error: &ValidationError<'_>) -> String {
        format!("{}{}", self.entered.at, error.instance_path())
    }

    /// Describes in words the value that was found.
    fn describe_found(&self, value: &Value, at: &str) -> String {
        match value {
            Value::Number(number) => (self.digits)(at).unwrap_or_else(|| number.to_string()),
            other => show(other),
        }
    }

    /// Returns whether the value belongs to an optional key.
    fn is_optional(&self, error: &ValidationError<'_>, at: &str) -> bool {
        let Some((_, key)) = at.rsplit_once('/') else { return false };
        let key = unescape(key);
        let outer = self.entered.by.map(|by| ways(self.source, by)).unwrap_or_default();
        let inner = ways(self.entered.schema, error.schema_path().as_str());
        let holder = outer.into_iter().chain(inner).rev().find_map(|(schema, next)| {
            (next == "properties" && schema.get("properties")?.get(&*key).is_some())
                .then_some(schema)
        });
        holder.is_some_and(|schema| {
            let required = schema.get("required").and_then(Value::as_array);
            !required.is_some_and(|required| required.iter().any(|it| it == &*key))
        })
    }

    /// Returns the schema that contains the failed keyword.
    fn schema_of(&self, error: &ValidationError<'_>) -> &Value {
        let mut ways = ways(self.entered.schema, error.schema_path().as_str());
        ways.pop().map_or(&Value::Null, |(schema, _)| schema)
    }
}

/// Lists the schemas on the path to a keyword, each with the next segment of the path.
fn ways<'s>(schema: &'s Value, path: &str) -> Vec<(&'s Value, String)> {
    let mut ways = Vec::new();
    let mut at = Some(schema);
    for segment in path.split('/').skip(1) {
        let Some(schema) = at else { return Vec::new() };
        let key = unescape(segment).into_owned();
        at = match (schema, key.as_str()) {
            (Value::Object(object), key) => object.get(key),
            (Value::Array(items), index) => {
                index.parse::<usize>().ok().and_then(|index| items.get(index))
            }
            _ => None,
        };
        ways.push((schema, key));
    }
    ways
}

/// Describes a value briefly.
pub(super) fn show(value: &Value) -> String {
    match value {
        Value::String(text) => words::quote(text),
        Value::Array(items) if items.len() > MOST_SHOWN => {
            format!("an array of {} items", items.len())
        }
        Value::Object(entries) if entries.len() > MOST_SHOWN => {
            format!("an object of {} keys", entries.len())
        }
        Value::Array(_) if !is_light(value) => "an array".to_owned(),
        Value::Object(_) if !is_light(value) => "an object".to_owned(),
        other => words::shorten(&other.to_string()),
    }
}

/// Returns whether a value is small enough to be written out.
fn is_light(value: &Value) -> bool {
    fn spend(value: &Value, left: &mut usize) -> bool {
        let cost = match value {
            Value::String(text) => 1 + text.len() / 64,
            Value::Object(entries) => 1 + entries.keys().map(|key| key.len() / 64).sum::<usize>(),
            _ => 1,
        };
        let Some(rest) = left.checked_sub(cost) else { return false };
        *left = rest;
        match value {
            Value::Array(items) => items.iter().all(|it| spend(it, left)),
            Value::Object(entries) => entries.values().all(|it| spend(it, left)),
            _ => true,
        }
    }
    let mut left = HEAVIEST;
    spend(value, &mut left)
}

/// Describes a wrong number of items or characters, with the valid range.
fn length(error: &ValidationError<'_>, at: String, wanted: Option<String>) -> Problem {
    let found = match error.instance().as_ref() {
        Value::String(text) => words::many(text.chars().count(), "character"),
        Value::Array(items) => words::many(items.len(), "item"),
        other => other.to_string(),
    };
    let mut problem = Problem::new(Rule::Length, &found, wanted.unwrap_or_default());
    problem.pointer = at;
    problem
}

/// Describes a key that the schema of the keys refuses.
fn wrong_key(at: &str, wrong: &ValidationError<'_>, schema: &Value, root: &Value) -> Problem {
    let name = wrong.instance().as_str().unwrap_or_default().to_owned();
    let names = schema.get("propertyNames").unwrap_or(schema);
    let wanted = match wrong.kind() {
        Kind::Pattern { pattern } if format_of(pattern).is_none() => {
            format!("text that matches `{pattern}`")
        }
        _ => expected(&with_type(names), root),
    };
    let mut problem =
        Problem::new(Rule::Value, &words::quote(&name), format!("{wanted} as the key"));
    problem.pointer = below(at, &words::shorten(&name));
    problem
}

/// Adds the type `string` to a schema of property names, because such a schema may lack a type.
fn with_type(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(object) = &mut schema {
        object.entry("type").or_insert_with(|| "string".into());
    }
    schema
}

/// Describes the constraints of rarely used keywords.
fn rare(kind: &Kind, schema: &Value) -> String {
    let items = |count: usize| format!("at most {}", words::many(count, "item"));
    match kind {
        Kind::MinProperties { .. } | Kind::MaxProperties { .. } => {
            let keys = counts(schema, "minProperties", "maxProperties", "key");
            keys.map_or_else(|| "an object".to_owned(), |it| format!("an object of {it}"))
        }
        Kind::AdditionalItems { limit } => items(*limit),
        Kind::UnevaluatedItems { .. } => "no more items than its schema names".to_owned(),
        Kind::Contains => "an array that holds an item of the kind its schema names".to_owned(),
        Kind::ContentEncoding { content_encoding } => format!("text encoded as {content_encoding}"),
        Kind::FromUtf8 { .. } => "text that is encoded in UTF-8".to_owned(),
        Kind::ContentMediaType { content_media_type } => {
            format!("text that holds {content_media_type}")
        }
        Kind::FalseSchema => "nothing here".to_owned(),
        Kind::Not { .. } => "a value of another form, as its schema says".to_owned(),
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            "text that its pattern can be compared with".to_owned()
        }
        _ => "what its schema asks for".to_owned(),
    }
}

fn in_range(schema: &Value, broken: &str) -> String {
    let is_integer = schema.get("type").is_some_and(|it| it == "integer");
    number(if is_integer { "an integer" } else { "a number" }, schema, Some(broken))
}
