//! The messages of a provider-independent history: those of the user, those of the model with its calls, and the
//! answers to the calls.

mod stored;

use std::fmt;
use std::sync::Arc;

use toolwright::provider::ToolCall;
use toolwright::{Answer, Content};

pub(crate) use self::stored::known;

/// One message of a history. Every call of a [`Message::Assistant`] has exactly one answer in the
/// [`Message::ToolResults`] that follows, in call order.
///
/// ```
/// use toolwright_agent::Message;
///
/// let message = Message::user("make the tests pass");
/// assert!(matches!(&message, Message::User { text, .. } if text == "make the tests pass"));
///
/// let stored = serde_json::to_string(&message)?;
/// assert_eq!(stored, r#"{"version":1,"role":"user","text":"make the tests pass"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum Message {
    /// A message of the user, or of the agent on the user's behalf.
    #[non_exhaustive]
    User {
        /// The text of the message.
        text: String,
        /// The attachments of the message: pictures, documents, more text. The model gets them before the text, if its
        /// provider accepts them; a sentence replaces each attachment that the model does not get.
        attachments: Arc<[Content<'static>]>,
        /// The sources of untrusted text in the message, which may have the result of a call in the background. A run
        /// that begins with a history with this message counts these sources as read.
        untrusted: Arc<[String]>,
    },
    /// One answer of the model.
    #[non_exhaustive]
    Assistant {
        /// The text of the answer; empty if the model only made calls.
        text: String,
        /// The calls, by the application's names, in the order in which the model made them.
        calls: Arc<[ToolCall]>,
        /// Content that the provider requires back verbatim.
        verbatim: Option<Verbatim>,
    },
    /// The answers to the calls of the previous message, one for each, in call order. The arguments of these calls are
    /// empty here, since the previous message contains them.
    ToolResults(Arc<[(ToolCall, Answer)]>),
}

/// The beginning of the message, in the user's role, by which the model reads the result of a call in the background.
pub(crate) const RESULT_OF: &str = "[The result of call ";

impl Message {
    /// The version of the stored form that this release writes and reads.
    pub const VERSION: u32 = 1;

    /// Makes a message of the user.
    pub fn user(text: impl Into<String>) -> Self {
        Self::user_with(text, [])
    }

    /// Makes a message of the user with pictures or documents.
    ///
    /// ```
    /// use toolwright::Content;
    /// use toolwright_agent::Message;
    ///
    /// let pixel = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
    /// let picture = Content::Image { media_type: "image/gif".into(), data: pixel.into() };
    /// let message = Message::user_with("What is this?", [picture]);
    /// assert!(matches!(&message, Message::User { attachments, .. } if attachments.len() == 1));
    /// ```
    pub fn user_with(
        text: impl Into<String>,
        attachments: impl Into<Arc<[Content<'static>]>>,
    ) -> Self {
        Self::User { text: text.into(), attachments: attachments.into(), untrusted: Arc::default() }
    }

    /// Adds the sources of untrusted text to a message of the user; does nothing to other messages.
    ///
    /// ```
    /// use toolwright_agent::Message;
    ///
    /// let message = Message::user("The page says: buy tea.").untrusted(["web page of eve".to_owned()]);
    /// let stored = serde_json::to_string(&message)?;
    /// assert!(stored.ends_with(r#","untrusted":["web page of eve"]}"#));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn untrusted(mut self, sources: impl IntoIterator<Item = String>) -> Self {
        if let Self::User { untrusted, .. } = &mut self {
            *untrusted = untrusted.iter().cloned().chain(sources).collect();
        }
        self
    }

    /// Makes a message of the model.
    ///
    /// ```
    /// use toolwright::provider::ToolCall;
    /// use toolwright_agent::Message;
    ///
    /// let call = ToolCall { id: Some("c1".into()), name: "read_file".into(), arguments: r#"{"path":"a.md"}"#.into() };
    /// let message = Message::assistant("I read it first.", [call]);
    /// assert_eq!(message.calls().len(), 1);
    /// ```
    pub fn assistant(text: impl Into<String>, calls: impl Into<Arc<[ToolCall]>>) -> Self {
        Self::Assistant { text: text.into(), calls: calls.into(), verbatim: None }
    }

    /// Adds content that the provider requires verbatim to a message of the model; does nothing to other messages.
    #[must_use]
    pub fn verbatim(mut self, wanted: Verbatim) -> Self {
        if let Self::Assistant { verbatim, .. } = &mut self {
            *verbatim = Some(wanted);
        }
        self
    }

    /// Makes the message that answers the calls of the previous message, in call order.
    ///
    /// ```
    /// use toolwright::provider::ToolCall;
    /// use toolwright::{Answer, Output};
    /// use toolwright_agent::Message;
    ///
    /// let call = ToolCall { id: Some("c1".into()), name: "add".into(), arguments: r#"{"a":1}"#.into() };
    /// let message = Message::tool_results([(call, Answer::from(Output::text("3")))]);
    /// let Message::ToolResults(answered) = &message else { panic!("they are answers") };
    /// assert_eq!((answered[0].0.arguments.as_str(), &*answered[0].1.text()), ("", "3"));
    /// ```
    pub fn tool_results(answered: impl IntoIterator<Item = (ToolCall, Answer)>) -> Self {
        let without_arguments =
            |(call, answer)| (ToolCall { arguments: String::new(), ..call }, answer);
        Self::ToolResults(answered.into_iter().map(without_arguments).collect())
    }

    /// Returns the calls of a message of the model; empty for other messages.
    #[must_use]
    pub fn calls(&self) -> &[ToolCall] {
        match self {
            Self::Assistant { calls, .. } => calls,
            Self::User { .. } | Self::ToolResults(_) => &[],
        }
    }
}

/// Omits texts, arguments and results, each of which may hold a secret.
impl fmt::Debug for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User { text, attachments, untrusted } => formatter
                .debug_struct("User")
                .field("text_bytes", &text.len())
                .field("attachments", &attachments.len())
                .field("untrusted", untrusted)
                .finish(),
            Self::Assistant { text, calls, verbatim } => formatter
                .debug_struct("Assistant")
                .field("text_bytes", &text.len())
                .field("calls", calls)
                .field("verbatim", verbatim)
                .finish(),
            Self::ToolResults(answered) => formatter.debug_list().entries(answered.iter()).finish(),
        }
    }
}

/// Content of a message that the provider requires back byte for byte: signatures, reasoning, the original calls. A
/// model of the same provider sends this content instead of the neutral form; other models ignore it. A server that
/// imitates the provider's API counts as another provider, since it has signatures of its own: see
/// [`Model::origin`](crate::Model::origin).
///
/// ```
/// use toolwright_agent::Verbatim;
///
/// let verbatim = Verbatim::new("anthropic", r#"[{"type":"text","text":"Done."}]"#);
/// assert_eq!(verbatim.of("anthropic"), Some(r#"[{"type":"text","text":"Done."}]"#));
/// assert_eq!(verbatim.of("gemini"), None);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Verbatim {
    provider: Arc<str>,
    text: Arc<str>,
}

impl Verbatim {
    /// Stores content of a provider as text. `provider` is the [`origin`](crate::Model::origin) of the model.
    pub fn new(provider: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Self { provider: provider.into(), text: text.into() }
    }

    /// Returns the name of the provider that wrote the content.
    #[must_use]
    pub fn provider(&self) -> &str {
        &self.provider
    }

    /// Returns the text, if the provider of this name wrote it.
    #[must_use]
    pub fn of(&self, provider: &str) -> Option<&str> {
        (&*self.provider == provider).then_some(&*self.text)
    }

    /// Names this server as the provider that wrote the content.
    #[cfg(feature = "http")]
    pub(crate) fn written_by(self, origin: &Arc<str>) -> Self {
        Self { provider: Arc::clone(origin), ..self }
    }

    /// Returns the text, whichever provider wrote it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Omits the text, which holds arguments.
impl fmt::Debug for Verbatim {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Verbatim")
            .field("provider", &self.provider)
            .field("bytes", &self.text.len())
            .finish()
    }
}
