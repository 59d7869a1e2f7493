//! Evaluates a JSONata expression over a document, within limits that also apply inside a single tight loop.

use std::time::Duration;

use jlens_core::{Bindings, CancelToken, Error, Expression, Options};
use serde_json::Value;
use toolwright::{ErrorClass, ToolError};

use super::memory;

/// The most steps of one evaluation. An expression needs the same number of steps for a document on every machine.
const STEPS: u64 = 5_000_000;
const DEPTH: usize = 2_000;
const TIME: Duration = Duration::from_secs(5);
/// The maximum length of an array or sequence, in items.
const LONGEST_ARRAY: usize = 1_000_000;
/// The largest string and the largest result of an expression, in bytes.
const LARGEST: usize = 16 << 20;

/// The most memory of an evaluation, in bytes. The limits above are for a single text or array, and an expression could
/// create thousands of them within its steps.
const MEMORY: usize = 512 << 20;

/// The maximum length of an expression, in bytes.
const LONGEST_EXPRESSION: usize = 16 << 10;

/// The language reference that a model gets for a malformed expression, or for the expression `?`.
pub(super) const REFERENCE: &str = include_str!("reference.md");

/// Evaluates an expression over a complete JSON document, within the limits. An undefined result is `null`.
pub(super) fn evaluate(
    expression: &str,
    document: &str,
    limits: &Options,
) -> Result<Value, ToolError> {
    evaluate_within(MEMORY, expression, document, limits)
}

/// The reason why an evaluation has no result.
enum QueryFailure {
    Document(serde_json::Error),
    Expression(Error),
}

fn evaluate_within(
    most: usize,
    expression: &str,
    document: &str,
    limits: &Options,
) -> Result<Value, ToolError> {
    let compiled = compile(expression)?;
    let cancel = || limits.cancel_token.iter().for_each(CancelToken::cancel);
    // Parse within the memory limit too, because a document in memory is many times larger than its text.
    let evaluate = || {
        let mut document: Value = serde_json::from_str(document).map_err(QueryFailure::Document)?;
        write_large_integers_as_texts(&mut document);
        compiled
            .evaluate_with(Some(&document), &Bindings::new(), limits)
            .map_err(QueryFailure::Expression)
    };
    let (evaluated, is_too_large) = memory::within(most, cancel, evaluate);
    match evaluated {
        Err(_) if is_too_large => {
            let message = format!("the expression takes more than {} MiB of memory", most >> 20);
            Err(ToolError::new("evaluation_error", message).class(ErrorClass::Invalid).hint(
                "make fewer or shorter texts and lists at one time, or query a part of the document",
            ))
        }
        Ok(result) => Ok(result.unwrap_or(Value::Null)),
        Err(QueryFailure::Expression(error)) => Err(failed("evaluation_error", &error)),
        Err(QueryFailure::Document(error)) => {
            let message = format!("the entry is not a JSON document: {error}");
            Err(ToolError::new("invalid_json", message)
                .class(ErrorClass::Invalid)
                .hint("read the entry to see what it has; only a whole document can be queried"))
        }
    }
}

/// Replaces the integers that a floating-point number does not represent exactly, such as the ids of many services, by texts
/// of their digits. JSONata has only floating-point numbers, which would change these integers.
fn write_large_integers_as_texts(value: &mut Value) {
    /// All integers up to this one are exact: 2 to the power of 53.
    const LARGEST_EXACT: u64 = 1 << 53;
    match value {
        Value::Number(number) => {
            let size = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
            if size.is_some_and(|it| it > LARGEST_EXACT) {
                *value = Value::String(number.to_string());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(write_large_integers_as_texts),
        Value::Object(fields) => fields.values_mut().for_each(write_large_integers_as_texts),
        _ => {}
    }
}

/// Makes the limits of an evaluation that begins at `now`, in milliseconds since 1970. `$now()` and `$millis()` return
/// this time instead of the clock's, and random numbers are the same in each evaluation.
pub(super) fn limits(now: i64, cancel: CancelToken) -> Options {
    Options::new()
        .max_steps(STEPS)
        .max_depth(DEPTH)
        .timeout(TIME)
        .max_array_length(LONGEST_ARRAY)
        .max_string_length(LARGEST)
        .max_result_size(LARGEST)
        .now(now)
        .seed(0)
        .cancel_token(cancel)
}

fn compile(expression: &str) -> Result<Expression, ToolError> {
    if expression.len() > LONGEST_EXPRESSION {
        let message = format!(
            "the expression has {} bytes, expected at most {LONGEST_EXPRESSION}",
            expression.len()
        );
        return Err(ToolError::new("invalid_expression", message).class(ErrorClass::Invalid));
    }
    Expression::compile(expression).map_err(|error| failed("invalid_expression", &error))
}

fn failed(kind: &'static str, error: &Error) -> ToolError {
    let place = error.position().map(|at| format!(" at character {at}")).unwrap_or_default();
    let message = format!("{}{place} ({})", error.message(), error.code());
    ToolError::new(kind, message).class(ErrorClass::Invalid).hint(REFERENCE)
}

#[cfg(test)]
mod suite;
#[cfg(test)]
mod tests;
