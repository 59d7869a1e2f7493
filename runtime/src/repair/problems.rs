//! What the validator says of a value, in our words, with what stands there and what was near.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value;

use crate::input::{Problem, Rule};

use super::site::Schema;
use super::tree::{Node, push_segment, quoted, unescaped};
use super::words;

/// The most problems that are put into words; the rest are counted.
const MOST: usize = 100;
/// A value heavier than this is judged up to its first problem.
const HEAVIEST: usize = 10_000;

/// Everything wrong with a value, and how much more there is.
pub(super) fn problems(schema: &Schema, node: &Node) -> (Vec<Problem>, usize) {
    let teller = Teller { source: &schema.source, node };
    let Some(value) = node.value() else {
        let mut found = Vec::new();
        out_of_reach(node, &mut String::new(), &mut found);
        let more = found.len().saturating_sub(MOST);
        found.truncate(MOST);
        return (found, more);
    };
    let mut found = Vec::new();
    if node.weight() > HEAVIEST {
        if let Err(error) = schema.root.validate(&value) {
            teller.tell(&error, &mut found);
        }
        return (found, 0);
    }
    let mut more = 0;
    for error in schema.root.iter_errors(&value) {
        if found.len() < MOST {
            teller.tell(&error, &mut found);
        } else {
            more += 1;
        }
    }
    (found, more)
}

/// Numbers that no validator can read.
fn out_of_reach(node: &Node, place: &mut String, found: &mut Vec<Problem>) {
    let mut within = |place: &mut String, key: &str, node: &Node| {
        let length = place.len();
        push_segment(place, key);
        out_of_reach(node, place, found);
        place.truncate(length);
    };
    match node {
        Node::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                within(place, &index.to_string(), item);
            }
        }
        Node::Object(entries) => {
            for (key, value) in entries {
                within(place, key, value);
            }
        }
        Node::Number(digits) if node.value().is_none() => {
            let mut problem = Problem::new(Rule::Range, digits, "a number nearer to 0");
            problem.pointer.clone_from(place);
            found.push(problem);
        }
        _ => {}
    }
}

struct Teller<'v> {
    source: &'v Value,
    node: &'v Node,
}

impl Teller<'_> {
    fn tell(&self, error: &ValidationError<'_>, found: &mut Vec<Problem>) {
        let schema = self.schema_of(error);
        let expected = || words::expected(schema, self.source);
        let simple = |rule, expected: String| {
            let mut problem = Problem::new(rule, &self.found(error), expected);
            problem.pointer = error.instance_path().to_string();
            problem
        };
        let problem = match error.kind() {
            Kind::Required { property } => {
                let key = property.as_str().unwrap_or_default();
                let wanted = schema.get("properties").and_then(|it| it.get(key));
                let wanted = wanted.map(|it| words::expected(it, self.source));
                let mut problem = Problem::new(Rule::MissingKey, "", wanted.unwrap_or_default());
                problem.pointer = error.instance_path().to_string();
                push_segment(&mut problem.pointer, key);
                problem
            }
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => {
                for key in unexpected.iter().take(MOST) {
                    found.push(self.unknown_key(error, schema, key));
                }
                return;
            }
            Kind::Type { .. } if error.instance().is_null() => simple(Rule::Null, expected()),
            Kind::Type { .. } => simple(Rule::Type, expected()),
            Kind::Enum { .. } | Kind::Constant { .. } => {
                self.choice(simple(Rule::Choice, expected()), schema)
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                if let Some(closest) = closest(context) {
                    for error in closest {
                        self.tell(error, found);
                    }
                    return;
                }
                let problem = simple(Rule::Type, expected());
                self.choice(problem, schema)
            }
            Kind::OneOfMultipleValid { .. } => {
                simple(Rule::Value, "what fits one of the forms taken here, not several".to_owned())
            }
            Kind::Minimum { .. }
            | Kind::Maximum { .. }
            | Kind::ExclusiveMinimum { .. }
            | Kind::ExclusiveMaximum { .. } => {
                let limit = error.to_string();
                let limits = ["minimum", "maximum"].iter().any(|it| schema.get(it).is_some());
                if limits {
                    simple(Rule::Range, expected())
                } else {
                    simple(Rule::Other, words::shorten(&limit, words::LONGEST))
                }
            }
            Kind::MinLength { limit } => {
                simple(Rule::Length, format!("at least {}", many(*limit, "character")))
            }
            Kind::MaxLength { limit } => {
                simple(Rule::Length, format!("at most {}", many(*limit, "character")))
            }
            Kind::MinItems { limit } => {
                simple(Rule::Length, format!("at least {}", many(*limit, "item")))
            }
            Kind::MaxItems { limit } => {
                simple(Rule::Length, format!("at most {}", many(*limit, "item")))
            }
            Kind::UniqueItems => {
                simple(Rule::Value, "items that differ from each other".to_owned())
            }
            Kind::MultipleOf { multiple_of } => {
                simple(Rule::Value, format!("a multiple of {multiple_of}"))
            }
            Kind::Pattern { pattern } => {
                simple(Rule::Value, format!("text that matches `{pattern}`"))
            }
            Kind::Format { format } => simple(Rule::Value, format!("text in the format {format}")),
            _ => simple(Rule::Other, words::shorten(&error.to_string(), 2 * words::LONGEST)),
        };
        found.push(problem);
    }

    fn unknown_key(&self, error: &ValidationError<'_>, schema: &Value, key: &str) -> Problem {
        let known: Vec<&str> = schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(key, _)| key.as_str())
            .collect();
        let listed: Vec<Value> = known.iter().map(|key| Value::from(*key)).collect();
        let mut problem = Problem::new(Rule::UnknownKey, &quoted(key), words::one_of(&listed));
        problem.near = words::nearest(key, known.into_iter());
        problem.pointer = error.instance_path().to_string();
        push_segment(&mut problem.pointer, key);
        problem
    }

    /// Adds the choice that was probably meant.
    fn choice(&self, mut problem: Problem, schema: &Value) -> Problem {
        let constants = ["oneOf", "anyOf"].iter().filter_map(|it| schema.get(it)?.as_array());
        let constants = constants.flatten().filter_map(|it| it.get("const"));
        let choices = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        let choices = choices.chain(constants).filter_map(Value::as_str);
        if let Some(Node::Text(text)) = self.node.at(&problem.pointer) {
            problem.near = words::nearest(text, choices);
        }
        problem
    }

    /// What stands at the place of an error, with the digits of its numbers.
    fn found(&self, error: &ValidationError<'_>) -> String {
        match self.node.at(error.instance_path().as_str()) {
            Some(Node::Text(text)) => quoted(&words::shorten(text, words::LONGEST)),
            Some(Node::Array(items)) if items.len() > 8 => {
                format!("an array of {} items", items.len())
            }
            Some(Node::Object(entries)) if entries.len() > 8 => {
                format!("an object of {} keys", entries.len())
            }
            Some(node) if node.weight() > 64 => match node {
                Node::Array(_) => "an array".to_owned(),
                _ => "an object".to_owned(),
            },
            Some(node) => node.text(),
            None => String::new(),
        }
    }

    /// The schema that holds the keyword that failed.
    fn schema_of(&self, error: &ValidationError<'_>) -> &Value {
        let path = error.schema_path().as_str();
        let (path, _) = path.rsplit_once('/').unwrap_or(("", path));
        let found = path.split('/').skip(1).try_fold(self.source, |schema, segment| {
            let key = unescaped(segment);
            match (schema, key.as_ref()) {
                (Value::Object(object), "$ref") => {
                    let target = object.get("$ref")?.as_str()?.strip_prefix('#')?;
                    self.source.pointer(target)
                }
                (Value::Object(object), key) => object.get(key),
                (Value::Array(items), index) => items.get(index.parse::<usize>().ok()?),
                _ => None,
            }
        });
        found.unwrap_or(&Value::Null)
    }
}

/// The way through a union that was probably meant: the only one whose type and tag are right.
fn closest<'e>(
    context: &'e [Vec<ValidationError<'static>>],
) -> Option<&'e [ValidationError<'static>]> {
    let tells_apart = |error: &ValidationError<'static>| {
        matches!(error.kind(), Kind::Constant { .. } | Kind::Enum { .. } | Kind::Type { .. })
    };
    let mut meant =
        context.iter().filter(|errors| !errors.is_empty() && !errors.iter().any(tells_apart));
    match (meant.next(), meant.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

fn many(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
