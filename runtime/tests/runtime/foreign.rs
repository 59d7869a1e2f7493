//! Schemas that arrive as JSON: what becomes of them, what is refused, and that the same values are
//! valid before and after.

mod hostile;
mod references;
mod rules;
mod validity;

use serde_json::Value;
use toolwright::unstable::foreign::{NormalizedSchema, TypeNames, input_schema};

fn arrived(schema: &Value) -> NormalizedSchema {
    input_schema(schema, TypeNames::JsonSchema)
        .unwrap_or_else(|problems| panic!("{schema} is refused: {problems:#?}"))
}

fn problems(schema: &Value) -> Vec<String> {
    match input_schema(schema, TypeNames::JsonSchema) {
        Ok(arrived) => panic!("{schema} is accepted: {arrived:#?}"),
        Err(problems) => problems.iter().map(ToString::to_string).collect(),
    }
}
