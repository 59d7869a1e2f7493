//! Schemas of output formats, for the providers that enforce them. The functions are pure.

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

/// Returns the schema in the subset of JSON Schema that the provider enforces; `None` if the provider has no formats,
/// or cannot enforce this format.
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use toolwright::dialect::Dialect;
    use toolwright::{DynamicTool, Registry};

    use super::*;
    use crate::history::Message;
    use crate::http::api::Api;
    use crate::model::{FINAL_ANSWER, ModelRequest};

    fn format(schema: Value) -> OutputFormat {
        let tool = DynamicTool::new(FINAL_ANSWER, "Quotes.", schema, |_, _| async { Ok(()) });
        OutputFormat::new(Registry::of([tool]).unwrap().catalog())
    }

    fn quote() -> OutputFormat {
        format(json!({
            "type": "object",
            "properties": {"total": {"type": "integer"}, "note": {"type": "string"}},
            "required": ["total"],
            "additionalProperties": false,
        }))
    }

    fn body(api: Api, dialect: Dialect, format: &OutputFormat) -> Value {
        let (listing, history) =
            (Registry::empty().listing(dialect).unwrap(), [Message::user("What?")]);
        let request = ModelRequest::new(&history, &listing).output(format);
        serde_json::from_str(&api.body(&api.asked("gpt-5.2", None), &request).unwrap()).unwrap()
    }

    /// The provider requires every key, and an absent value is `null`.
    fn enforced() -> Value {
        json!({
            "type": "object",
            "properties": {"note": {"type": ["string", "null"]}, "total": {"type": "integer"}},
            "required": ["total", "note"],
            "additionalProperties": false,
        })
    }

    #[test]
    fn a_chat_completion_has_to_follow_the_schema() {
        let found = body(Api::OpenAiChat, Dialect::OpenAiChat, &quote());
        let schema = json!({"name": "final_answer", "strict": true, "schema": enforced()});
        let expected = json!({"type": "json_schema", "json_schema": schema});
        assert_eq!(found["response_format"], expected);
    }

    #[test]
    fn a_response_has_to_follow_the_schema() {
        let found = body(Api::OpenAiResponses, Dialect::OpenAiResponses, &quote());
        let (name, schema) = ("final_answer", enforced());
        let expected =
            json!({"type": "json_schema", "name": name, "strict": true, "schema": schema});
        assert_eq!(found["text"]["format"], expected);
    }

    #[test]
    fn what_a_provider_cannot_enforce_is_no_format_there() {
        let open = format(json!({"type": "object", "additionalProperties": {"type": "integer"}}));
        assert!(schema(Provider::OpenAiChat, &open).is_none());
        assert!(schema(Provider::Anthropic, &quote()).is_none());
        assert!(schema(Provider::Gemini, &quote()).is_none());
    }
}
