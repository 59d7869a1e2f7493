//! The schema of a format that the provider makes its model follow. Pure.

use serde::Deserialize;
use serde_json::value::RawValue;
use toolwright::dialect::Dialect;
use toolwright::provider::Provider;

use crate::model::OutputFormat;

#[derive(Deserialize)]
struct Tool {
    function: Option<Function>,
    parameters: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Function {
    parameters: Box<RawValue>,
}

/// The schema, in the subset of JSON Schema that the provider enforces. Nothing where it has no such formats or cannot enforce this one.
pub(super) fn schema(provider: Provider, format: &OutputFormat) -> Option<Box<RawValue>> {
    let dialect = match provider {
        Provider::OpenAiChat => Dialect::OpenAiChatStrict,
        Provider::OpenAiResponses => Dialect::OpenAiResponsesStrict,
        _ => return None,
    };
    let listing = format.listing(dialect).ok()?;
    let tools: Vec<Tool> = serde_json::from_str(listing.tools().get()).ok()?;
    let tool = tools.into_iter().next()?;
    tool.function.map(|it| it.parameters).or(tool.parameters)
}
