//! Checks a value against its schema, and describes the problems in our words.

use jsonschema::{ValidationOptions, Validator};
use serde_json::Value;

use super::explain::{Depth, Explainer};
use super::problems::show;
use toolwright_core::input::{Problem, Rule};
use toolwright_core::json::pointer::below;
use toolwright_core::schema::SchemaProblem;
use toolwright_core::schema::walk::pointers;

/// The maximum size of all locations in a value, in bytes. A value with larger locations is checked only up to its
/// first problem, because each problem stores its location.
const LONGEST_PLACES: usize = 16 << 20;

/// A compiled schema that checks values.
#[doc(hidden)]
pub struct Checker {
    validator: Validator,
    source: Value,
    explainer: Explainer,
}

/// Returns the settings of the validators that check input.
pub(crate) fn options<'o>() -> ValidationOptions<'o> {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .should_validate_formats(true)
        .offline()
}

impl Checker {
    /// Compiles a schema. Formats are checked too, because the Rust types behind the schema check them.
    #[doc(hidden)]
    pub fn new(schema: &Value) -> Result<Self, SchemaProblem> {
        let mut source = schema.clone();
        source.sort_all_objects();
        options()
            .build(&source)
            .map(|validator| Self { validator, source, explainer: Explainer::new() })
            .map_err(|error| {
                let pointer = dangling(schema).unwrap_or_else(|| error.instance_path().to_string());
                let message = format!(
                    "the schema itself is wrong: {error}; correct the attribute of schemars that writes it"
                );
                SchemaProblem::new(pointer, message)
            })
    }

    pub(crate) fn is_valid(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// Checks a text that is known to be JSON, because its syntax was checked before.
    #[doc(hidden)]
    pub fn check_text(&self, text: &str) -> Result<(), Vec<Problem>> {
        self.check(&read(text)?)
    }

    /// Checks as [`check_text`](Self::check_text) does, but returns only one problem. All problems are found later,
    /// when the whole refused input is examined.
    #[doc(hidden)]
    pub fn check_input(&self, text: &str) -> Result<(), Vec<Problem>> {
        self.check_to(&read(text)?, Depth::First)
    }

    pub(crate) fn check(&self, value: &Value) -> Result<(), Vec<Problem>> {
        let depth = if has_long_places(value) { Depth::First } else { Depth::UpTo(usize::MAX) };
        self.check_to(value, depth)
    }

    fn check_to(&self, value: &Value, depth: Depth) -> Result<(), Vec<Problem>> {
        if self.validator.is_valid(value) {
            return Ok(());
        }
        let mut problems = self.explainer.explain(&self.source, value, &|_| None, depth).problems;
        if problems.is_empty() {
            problems.push(Problem::new(Rule::Value, &show(value), "what its schema asks for"));
        }
        Err(problems)
    }
}

/// Parses a text and sorts the keys. Then the order of the problems does not depend on the feature `preserve_order` of
/// `serde_json`, which any crate of the build can enable.
fn read(text: &str) -> Result<Value, Vec<Problem>> {
    let mut value: Value = serde_json::from_str(text)
        .map_err(|_| vec![Problem::new(Rule::Syntax, text, "JSON with numbers in range")])?;
    value.sort_all_objects();
    Ok(value)
}

/// Returns whether the locations of all problems of a value could take much more memory than the value.
#[doc(hidden)]
pub fn has_long_places(value: &Value) -> bool {
    places(value, 0) > LONGEST_PLACES
}

/// Computes how many bytes the locations of a value and all its parts take, if the location of the value itself has
/// `place` bytes.
fn places(value: &Value, place: usize) -> usize {
    place
        + match value {
            Value::Array(items) => items.iter().map(|item| places(item, place + 1)).sum(),
            Value::Object(entries) => {
                entries.iter().map(|(key, value)| places(value, place + key.len())).sum()
            }
            _ => 0,
        }
}

/// Finds a reference without a target, because the validator's error does not contain its location.
fn dangling(schema: &Value) -> Option<String> {
    let mut places = Vec::new();
    pointers(schema, String::new(), &mut places);
    places.into_iter().find_map(|place| {
        let reference = schema.pointer(&place)?.get("$ref")?.as_str()?;
        let target = reference.strip_prefix('#').and_then(|target| schema.pointer(target));
        target.is_none().then(|| below(&place, "$ref"))
    })
}
