//! A value against its schema, in our words.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::SchemaProblem;
use super::walk::{below, pointers};
use crate::input::{Problem, Rule};

/// A schema ready to check values.
pub(crate) struct Checker(Validator);

impl Checker {
    /// Formats are asserted, as the types behind them do.
    pub(crate) fn new(schema: &Value) -> Result<Self, SchemaProblem> {
        jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .should_validate_formats(true)
            .build(schema)
            .map(Self)
            .map_err(|error| {
                let pointer = dangling(schema).unwrap_or_else(|| error.instance_path().to_string());
                let message = format!(
                    "the schema itself is wrong: {error}; correct the attribute of schemars that writes it"
                );
                SchemaProblem::new(pointer, message)
            })
    }

    pub(crate) fn is_valid(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }

    /// Checks a value that has been read, so its text is JSON.
    pub(crate) fn check_text(&self, text: &str) -> Result<(), Vec<Problem>> {
        match serde_json::from_str(text) {
            Ok(value) => self.check(&value),
            Err(error) => Err(vec![Problem::new(Rule::Syntax, text, error.to_string())]),
        }
    }

    pub(crate) fn check(&self, value: &Value) -> Result<(), Vec<Problem>> {
        if self.0.is_valid(value) {
            return Ok(());
        }
        Err(self.0.iter_errors(value).map(|error| problem(&error)).collect())
    }
}

/// The place of a reference to nothing, which the error does not tell.
fn dangling(schema: &Value) -> Option<String> {
    let mut places = Vec::new();
    pointers(schema, String::new(), &mut places);
    places.into_iter().find_map(|place| {
        let reference = schema.pointer(&place)?.get("$ref")?.as_str()?;
        let target = reference.strip_prefix('#').and_then(|target| schema.pointer(target));
        target.is_none().then(|| below(&place, "$ref"))
    })
}

fn problem(error: &ValidationError<'_>) -> Problem {
    let (rule, expected) = match error.kind() {
        ValidationErrorKind::Pattern { pattern } => {
            (Rule::Value, format!("text that matches `{pattern}`"))
        }
        ValidationErrorKind::Enum { options } => (Rule::Choice, format!("one of {options}")),
        ValidationErrorKind::Minimum { limit } => {
            (Rule::Range, format!("a number of at least {limit}"))
        }
        ValidationErrorKind::Maximum { limit } => {
            (Rule::Range, format!("a number of at most {limit}"))
        }
        ValidationErrorKind::UniqueItems => {
            (Rule::Value, "items that differ from each other".to_owned())
        }
        _ => (Rule::Other, format!("what the schema says: {error}")),
    };
    let mut problem = Problem::new(rule, &error.instance().to_string(), expected);
    problem.pointer = error.instance_path().to_string();
    problem
}
