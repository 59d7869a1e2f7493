//! Provider messages: reads the tool calls of a message, and writes the message that returns the answers.
//!
//! This module only converts, and opens no connection. It guarantees:
//!
//! - The arguments of a call are exactly what the provider wrote, or `{}` if it wrote none. So large numbers and
//!   repeated keys reach the input reader unchanged.
//! - A call that needs an answer is returned or refused, never skipped. Content that needs no answer is skipped: text,
//!   thinking, and calls of tools that the provider runs itself.
//! - Content that a provider does not accept is replaced by a sentence that describes it.
//!
//! ```text
//!   message ──▶ Provider::tool_calls ──▶ [ToolCall] ──▶ executor ──▶ [Answer] ──▶ Provider::tool_results
//! ```

mod answer;
mod anthropic;
mod error;
mod gemini;
mod kind;
mod media;
mod message;
mod node;
mod openai_chat;
mod openai_responses;
mod stored;
mod stream;

use std::borrow::Cow;
use std::fmt;

use serde_json::{Value, value::RawValue};

use toolwright_core::call::Call;
use toolwright_core::output::{Answer, Content};

use self::answer::AnsweredCall;
pub use self::error::MessageError;
pub use self::kind::Provider;
pub use self::media::MediaSupport;
use self::media::Parts;
use self::node::Node;
pub use self::stored::UnknownProvider;
pub use self::stream::{MessageStream, StreamError, StreamEvent};

/// One tool call in a provider's message.
///
/// ```
/// use toolwright::provider::{Provider, ToolCall};
///
/// let block = r#"{"type":"tool_use","id":"toolu_1","name":"read_file","input":{"path": "a.md"}}"#;
/// let calls = Provider::Anthropic.tool_calls(block)?;
/// assert_eq!(
///     calls,
///     [ToolCall {
///         id: Some("toolu_1".into()),
///         name: "read_file".into(),
///         arguments: r#"{"path": "a.md"}"#.into(),
///     }]
/// );
/// # Ok::<(), toolwright::provider::MessageError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ToolCall {
    /// The id that the answer has to contain. Calls of Gemini may have none, and so may calls of some servers that use
    /// the format of `OpenAI`'s chat API.
    pub id: Option<String>,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The arguments as JSON text, exactly as the provider wrote it. The text is not checked.
    ///
    /// Anthropic and Gemini send an object, and this is its text in the message; if Gemini sends no object, it is `{}`.
    /// `OpenAI` sends a string, and this is the decoded string, which may be empty or not JSON. Some servers with its
    /// chat API send an object, which remains unchanged, or nothing, which is read as `{}`.
    pub arguments: String,
}

impl Provider {
    /// All providers, in the order of their declaration.
    ///
    /// ```
    /// use toolwright::provider::Provider;
    ///
    /// let names = Provider::ALL.map(Provider::name);
    /// assert_eq!(names, ["anthropic", "openai-chat", "openai-responses", "gemini"]);
    /// ```
    pub const ALL: [Self; 4] =
        [Self::Anthropic, Self::OpenAiChat, Self::OpenAiResponses, Self::Gemini];

    /// Determines from the shape of a message which provider wrote it.
    ///
    /// Recognises the messages and parts of messages that [`tool_calls`](Self::tool_calls) accepts, if they contain
    /// something that only one provider uses.
    ///
    /// ```
    /// use toolwright::provider::Provider;
    ///
    /// let item = r#"[{"type":"function_call","call_id":"call_1","name":"ping","arguments":"{}"}]"#;
    /// assert_eq!(Provider::detect(item)?, Provider::OpenAiResponses);
    ///
    /// let error = Provider::detect(r#"{"role":"assistant","content":"Done."}"#).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the message names no provider by its shape, an object with the keys content, role"
    /// );
    /// # Ok::<(), toolwright::provider::MessageError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the text is not JSON, or when its shape fits no provider or several. A message of an assistant such as
    /// `{"role":"assistant","content":"Done."}` fits none.
    pub fn detect(message: &str) -> Result<Self, MessageError> {
        let raw = parse(message)?;
        let mut fitting = Self::ALL.into_iter().filter(|provider| provider.recognises(raw));
        match (fitting.next(), fitting.next()) {
            (Some(provider), None) => Ok(provider),
            (None, _) => Err(MessageError::Unrecognised { found: node::description(raw) }),
            (Some(one), Some(other)) => Err(MessageError::Ambiguous { one, other }),
        }
    }

    /// Reads the tool calls of a message, in the order of the message.
    ///
    /// | provider | a whole response | a part of a response |
    /// | --- | --- | --- |
    /// | Anthropic | `{"type":"message","content":[…]}` | the content, or one block |
    /// | `OpenAI` chat | `{"choices":[{"message":…}]}` | the message, its `tool_calls`, or one call |
    /// | `OpenAI` Responses | `{"output":[…]}` | the items, or one item |
    /// | Gemini | `{"candidates":[{"content":…}]}` | the content, its parts, or one part |
    ///
    /// Content that needs no answer is skipped: text, thinking, and calls of tools that the provider runs itself.
    ///
    /// ```
    /// use toolwright::provider::Provider;
    ///
    /// let message = r#"{"parts":[
    ///     {"text":"I will look."},
    ///     {"functionCall":{"name":"list_files"}},
    ///     {"functionCall":{"name":"read_file","args":{"path":"Cargo.toml"}}}
    /// ]}"#;
    /// let calls = Provider::Gemini.tool_calls(message)?;
    /// assert_eq!(calls[0].arguments, "{}");
    /// assert_eq!(calls[1].name, "read_file");
    ///
    /// let error = Provider::Gemini
    ///     .tool_calls(r#"{"functionCall":{"name":7}}"#)
    ///     .unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "gemini message at /functionCall/name: expected a string, found a number"
    /// );
    /// # Ok::<(), toolwright::provider::MessageError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the text is not JSON or is another provider's message; when a field is missing or has the wrong type; when
    /// an alternative other than the first one calls tools; when the message was cut off inside of a call; or when the
    /// client has to answer a call that is not a function call. See [`MessageError`].
    pub fn tool_calls(self, message: &str) -> Result<Vec<ToolCall>, MessageError> {
        let raw = parse(message)?;
        if !self.recognises(raw)
            && let Some(found) = Self::ALL.into_iter().find(|provider| provider.recognises(raw))
        {
            return Err(MessageError::OtherProvider { expected: self, found });
        }
        let root = Node::root(self, raw);
        match self {
            Self::Anthropic => anthropic::tool_calls(&root),
            Self::OpenAiChat => openai_chat::tool_calls(&root),
            Self::OpenAiResponses => openai_responses::tool_calls(&root),
            Self::Gemini => gemini::tool_calls(&root),
        }
    }

    /// Writes the message that returns the answers. `answered` must be in the order of the calls.
    ///
    /// For Anthropic and Gemini, the result is one message: an object to append to the history. For `OpenAI`, the
    /// result is an array of messages (chat) or items (Responses), one for each call. Append them all to the history.
    ///
    /// Images and documents are placed where the provider accepts them: either inside the answer, or after all answers,
    /// with a reference in the answer. They come after the answers for `OpenAI` chat, in another message of the user,
    /// and for Anthropic if the answer is an error. Content that the provider does not accept is replaced by a
    /// sentence: audio, unknown formats, and data that is too large, not base64, or of another format than its label.
    /// Gemini's models before version 3 refuse images in answers, but this function does not know the model. For such a
    /// model, use [`Listing::tool_results_with`](crate::dialect::Listing::tool_results_with).
    ///
    /// ```
    /// use toolwright::provider::Provider;
    /// use toolwright::{Call, Executor, Registry, tool};
    ///
    /// /// Answers.
    /// #[tool(effect = read)]
    /// async fn ping() -> &'static str {
    ///     "pong"
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let executor = Executor::builder(Registry::of([PING])?).build()?;
    /// let message = r#"[{"type":"tool_use","id":"toolu_1","name":"ping","input":{}}]"#;
    /// let provider = Provider::detect(message)?;
    /// let mut answered = Vec::new();
    /// for call in provider.tool_calls(message)? {
    ///     let answer = executor.call(&Call::from(&call)).await;
    ///     answered.push((call, answer));
    /// }
    /// assert_eq!(
    ///     provider.tool_results(&answered)?,
    ///     serde_json::json!({"role": "user", "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_1", "content": "pong"}
    ///     ]})
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When a call has no id and the provider needs one, as every provider but Gemini does.
    pub fn tool_results(self, answered: &[(ToolCall, Answer)]) -> Result<Value, MessageError> {
        self.results_by(answered, None, MediaSupport::Full, Cow::Borrowed)
    }

    /// Writes the results with the names by which models know the tools. If `ids` is given, they replace the ids of the
    /// calls.
    pub(crate) fn results_by<'a>(
        self,
        answered: &'a [(ToolCall, Answer)],
        ids: Option<&'a [String]>,
        support: MediaSupport,
        shown: impl Fn(&'a str) -> Cow<'a, str>,
    ) -> Result<Value, MessageError> {
        let contents: Vec<Vec<Content<'_>>> =
            answered.iter().map(|(_, answer)| answer.content()).collect();
        let answered: Vec<AnsweredCall<'_>> = answered
            .iter()
            .zip(&contents)
            .enumerate()
            .map(|(index, ((call, answer), content))| {
                let own = AnsweredCall::to(call, answer, content);
                let id = match ids {
                    Some(ids) => ids.get(index).map(String::as_str),
                    None => own.id,
                };
                AnsweredCall { id, name: shown(&call.name), ..own }
            })
            .collect();
        self.results(&answered, support)
    }

    fn results(
        self,
        answered: &[AnsweredCall<'_>],
        support: MediaSupport,
    ) -> Result<Value, MessageError> {
        let parts = &mut Parts::new(self, support);
        match self {
            Self::Anthropic => anthropic::tool_results(answered, parts),
            Self::OpenAiChat => openai_chat::tool_results(answered, parts),
            Self::OpenAiResponses => openai_responses::tool_results(answered, parts),
            Self::Gemini => Ok(gemini::tool_results(answered, parts)),
        }
    }

    fn recognises(self, raw: &RawValue) -> bool {
        let root = Node::root(self, raw);
        match self {
            Self::Anthropic => anthropic::recognises(&root),
            Self::OpenAiChat => openai_chat::recognises(&root),
            Self::OpenAiResponses => openai_responses::recognises(&root),
            Self::Gemini => gemini::recognises(&root),
        }
    }
}

/// Omits the arguments, because they may contain secrets, and only the tool's definition shows which arguments are
/// secret.
impl fmt::Debug for ToolCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolCall")
            .field("id", &self.id)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Converts the call to the type that an executor takes.
impl<'a> From<&'a ToolCall> for Call<'a> {
    fn from(call: &'a ToolCall) -> Self {
        let arrived = Self::new(&call.name, &call.arguments);
        match &call.id {
            Some(id) => arrived.id(id),
            None => arrived,
        }
    }
}

fn parse(message: &str) -> Result<&RawValue, MessageError> {
    serde_json::from_str(message).map_err(MessageError::NotJson)
}

#[cfg(test)]
mod tests;
