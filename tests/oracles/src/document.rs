//! A vendor's published document, ready to judge.

use jsonschema::Validator;
use serde_json::{Value, json};
use toolwright::dialect::Dialect;

use crate::fetched::{self, Missing};

/// One of the fetched documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Document {
    /// Anthropic's `OpenAPI` document.
    Anthropic,
    /// `OpenAI`'s `OpenAPI` document.
    OpenAi,
    /// Google's discovery document of the Gemini API.
    Gemini,
    /// The Model Context Protocol's schema, revision 2026-07-28.
    Mcp,
    /// The same, revision 2025-11-25, which most clients speak.
    Mcp2025,
}

/// One definition of a document, ready to judge values.
pub struct Definition(Validator);

/// Why there is no such definition.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The document was not fetched.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// It is no JSON.
    #[error("the document is no JSON")]
    Json(#[from] serde_json::Error),
    /// It has no such definition.
    #[error("the document has no definition `{0}`")]
    Unknown(String),
    /// It is no schema.
    #[error("the definition `{name}` is no schema: {reason}")]
    NoSchema {
        /// The definition.
        name: String,
        /// What the validator says.
        reason: String,
    },
}

impl Document {
    /// The definition of this name, as the vendor calls it.
    ///
    /// # Errors
    /// Where the document is missing or has no such definition.
    pub fn definition(self, name: &str) -> Result<Definition, DocumentError> {
        let mut document: Value = serde_json::from_str(&fetched::text(self.file())?)?;
        if document["$defs"].get(name).is_none() {
            return Err(DocumentError::Unknown(name.to_owned()));
        }
        if self == Self::OpenAi {
            either_form_of_a_message(&mut document);
        }
        document["$ref"] = json!(format!("#/$defs/{name}"));
        let made = jsonschema::draft202012::options().build(&document);
        made.map(Definition).map_err(|error| DocumentError::NoSchema {
            name: name.to_owned(),
            reason: error.to_string(),
        })
    }

    fn file(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic.json",
            Self::OpenAi => "openai.json",
            Self::Gemini => "gemini.json",
            Self::Mcp => "mcp.json",
            Self::Mcp2025 => "mcp-2025-11-25.json",
        }
    }
}

/// `OpenAI` documents two forms of a message, exactly one of which an item has to have, and a message of the user that is a list
/// of parts has both. The vendor's own examples are such messages, so either form has to do.
fn either_form_of_a_message(document: &mut Value) {
    if let Some(item) = document["$defs"].get_mut("InputItem").and_then(Value::as_object_mut)
        && let Some(forms) = item.remove("oneOf")
    {
        item.insert("anyOf".to_owned(), forms);
    }
}

impl Definition {
    /// What is wrong with the value, one sentence each; nothing where the vendor takes it.
    #[must_use]
    pub fn objections(&self, value: &Value) -> Vec<String> {
        if self.0.is_valid(value) {
            return Vec::new();
        }
        let said = self.0.iter_errors(value);
        said.map(|error| format!("at `{}`: {error}", error.instance_path())).collect()
    }
}

/// What judges one tool of a dialect: a document's definition of it.
#[must_use]
pub fn of_one_tool(dialect: Dialect) -> Vec<(Document, &'static str)> {
    match dialect {
        Dialect::Anthropic | Dialect::AnthropicStrict => vec![(Document::Anthropic, "Tool")],
        Dialect::OpenAiChat | Dialect::OpenAiChatStrict => {
            vec![(Document::OpenAi, "ChatCompletionTool")]
        }
        Dialect::OpenAiResponses | Dialect::OpenAiResponsesStrict => {
            vec![(Document::OpenAi, "FunctionTool")]
        }
        Dialect::Gemini | Dialect::GeminiOpenApi => vec![(Document::Gemini, "FunctionDeclaration")],
        _ => vec![(Document::Mcp, "Tool"), (Document::Mcp2025, "Tool")],
    }
}

/// The list of tools as it stands in a request, or in the answer to `tools/list`, and what judges it.
#[must_use]
pub fn of_all_tools(dialect: Dialect, tools: &[Value]) -> (Document, &'static str, Value) {
    match dialect {
        Dialect::Anthropic | Dialect::AnthropicStrict => {
            (Document::Anthropic, "CreateMessageParams.tools", json!(tools))
        }
        Dialect::OpenAiChat | Dialect::OpenAiChatStrict => {
            (Document::OpenAi, "CreateChatCompletionRequest.tools", json!(tools))
        }
        Dialect::OpenAiResponses | Dialect::OpenAiResponsesStrict => {
            (Document::OpenAi, "ToolsArray", json!(tools))
        }
        Dialect::Gemini | Dialect::GeminiOpenApi => (
            Document::Gemini,
            "GenerateContentRequest.tools",
            json!([{ "functionDeclarations": tools }]),
        ),
        _ => {
            let list = json!({
                "tools": tools, "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            });
            (Document::Mcp, "ListToolsResult", list)
        }
    }
}
