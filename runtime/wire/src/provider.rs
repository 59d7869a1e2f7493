//! Provider messages: reads the tool calls in one, and writes the answers as the message that goes back.
//!
//! It only converts, and opens no connection. The invariants:
//!
//! - a call is returned with its arguments exactly as the provider wrote them, so that large numbers and repeated keys
//!   reach the input reader unchanged;
//! - a call that waits for an answer is returned or refused, never skipped. Content that needs no answer is skipped:
//!   text, thinking, tools that the provider runs itself;
//! - content that a provider does not accept is replaced by a sentence that names it.
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

/// One tool call, as found in a provider's message.
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
    /// The id that the answer to the call must name; only calls of Gemini may have none.
    pub id: Option<String>,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The arguments' JSON text, as the provider wrote it and unchecked.
    ///
    /// Anthropic and Gemini send an object: this is its exact slice of the message, `{}` where Gemini sends none.
    /// `OpenAI` sends a string: this is the decoded string, which may be empty or not JSON at all.
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

    /// Determines which provider wrote the message, by its shape.
    ///
    /// Accepts whatever [`tool_calls`](Self::tool_calls) accepts.
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
    /// When the text is not JSON, or when its shape fits no provider or several, as an assistant's plain text does.
    pub fn detect(message: &str) -> Result<Self, MessageError> {
        let raw = parse(message)?;
        let mut fitting = Self::ALL.into_iter().filter(|provider| provider.recognises(raw));
        match (fitting.next(), fitting.next()) {
            (Some(provider), None) => Ok(provider),
            (None, _) => Err(MessageError::Unrecognised { found: node::description(raw) }),
            (Some(one), Some(other)) => Err(MessageError::Ambiguous { one, other }),
        }
    }

    /// Reads the tool calls of a message, in their order.
    ///
    /// | provider | a whole response | parts of one |
    /// | --- | --- | --- |
    /// | Anthropic | `{"type":"message","content":[…]}` | the content, one block |
    /// | `OpenAI` chat | `{"choices":[{"message":…}]}` | the message, its `tool_calls`, one call |
    /// | `OpenAI` Responses | `{"output":[…]}` | the items, one item |
    /// | Gemini | `{"candidates":[{"content":…}]}` | the content, its parts, one part |
    ///
    /// Content that needs no answer is skipped: text, thinking, calls that the provider runs itself.
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
    /// When the text is not JSON, is another provider's message, lacks a field, has a field of the wrong type, calls
    /// tools in several alternatives, was cut short in a call, or contains a call that the client must answer but that
    /// is not a function call. See [`MessageError`].
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

    /// Writes the message that returns the answers, in the given order, which is call order.
    ///
    /// For Anthropic and Gemini it is one message, an object to append to the history. For `OpenAI` it is one message
    /// (chat) or item (Responses) per call, an array to append to the history.
    ///
    /// Pictures and documents are placed where the provider accepts them: inside the answer, or after all answers, with
    /// a pointer in the answer. The latter applies to `OpenAI` chat, if another message of the user follows, and to
    /// Anthropic's errors. Content that the provider does not accept becomes a sentence: sounds, unknown formats, and
    /// data that is too large, not base64, or not what its label says. Gemini's models before 3 refuse pictures in
    /// answers, but this function does not know the model: see
    /// [`Listing::tool_results_with`](crate::dialect::Listing::tool_results_with).
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
    /// When an answer has no id and the provider, any but Gemini, needs one.
    pub fn tool_results(self, answered: &[(ToolCall, Answer)]) -> Result<Value, MessageError> {
        self.results_by(answered, None, MediaSupport::Full, |name| name)
    }

    /// Writes the results with the names by which models know the tools, and with other ids if some are given.
    pub(crate) fn results_by<'a>(
        self,
        answered: &'a [(ToolCall, Answer)],
        ids: Option<&'a [String]>,
        support: MediaSupport,
        shown: impl Fn(&'a str) -> &'a str,
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

/// Omits the arguments, which may contain secrets; only the tool's definition shows which ones.
impl fmt::Debug for ToolCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolCall")
            .field("id", &self.id)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Converts the call for an executor.
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
