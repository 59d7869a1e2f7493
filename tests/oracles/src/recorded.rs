//! A recording of what went between a client and a provider, held against the provider's document.

use serde_json::Value;
use toolwright::provider::Provider;

use crate::document::{Definition, Document, DocumentError};

/// What is held against the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judged {
    /// What was sent and, where it is no error, what came back.
    Both,
    /// What was sent: the answers of a mock are its own affair.
    Requests,
}

/// What the document says of a recording.
#[derive(Debug, Default)]
pub struct Verdict {
    /// How many bodies it takes or gives.
    pub valid: usize,
    /// What is wrong with the others, with their lines.
    pub objections: Vec<String>,
}

/// Why a recording cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum RecordedError {
    /// The document is missing.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// A line is no JSON.
    #[error("line {line} is no JSON: {error}")]
    Json {
        /// The line, counted from 1.
        line: usize,
        /// What the reader says.
        error: serde_json::Error,
    },
    /// The first line names no provider whose document has messages.
    #[error(
        "the first line names {0}, expected anthropic, openai-chat, openai-responses or gemini"
    )]
    Provider(Value),
}

/// Judges the text of a recording, whose first line names the provider.
///
/// # Errors
/// Where the document is missing, and where the text is no recording.
pub fn verdict(text: &str, judged: Judged) -> Result<Verdict, RecordedError> {
    let lines = text.lines().enumerate().map(|(index, line)| {
        let line_number = index + 1;
        let value = serde_json::from_str::<Value>(line);
        value
            .map(|it| (line_number, it))
            .map_err(|error| RecordedError::Json { line: line_number, error })
    });
    let lines: Vec<(usize, Value)> = lines.collect::<Result<_, _>>()?;
    let header = lines.first().map(|(_, header)| &header["provider"]);
    let (requests, responses) = definitions(header.unwrap_or(&Value::Null))?;
    let mut verdict = Verdict::default();
    for (number, exchange) in lines.iter().skip(1) {
        verdict.add(&requests, *number, "request", &exchange["request"]["body"]);
        if judged == Judged::Both && exchange["response"]["status"] == 200 {
            verdict.add(&responses, *number, "response", &exchange["response"]["body"]);
        }
    }
    Ok(verdict)
}

impl Verdict {
    fn add(&mut self, definition: &Definition, line: usize, what: &str, body: &Value) {
        let objections = definition.objections(body);
        if objections.is_empty() {
            self.valid += 1;
        }
        let said = objections.into_iter().map(|it| format!("line {line}, {what}: {it}"));
        self.objections.extend(said);
    }
}

/// What judges the requests and the responses.
fn definitions(provider: &Value) -> Result<(Definition, Definition), RecordedError> {
    let (document, request, response) = if provider == Provider::Anthropic.name() {
        (Document::Anthropic, "CreateMessageParams", "Message")
    } else if provider == Provider::OpenAiChat.name() {
        (Document::OpenAi, "CreateChatCompletionRequest", "CreateChatCompletionResponse")
    } else if provider == Provider::OpenAiResponses.name() {
        (Document::OpenAi, "CreateResponse", "Response")
    } else if provider == Provider::Gemini.name() {
        (Document::Gemini, "GenerateContentRequest", "GenerateContentResponse")
    } else {
        return Err(RecordedError::Provider(provider.clone()));
    };
    Ok((document.definition(request)?, document.definition(response)?))
}
