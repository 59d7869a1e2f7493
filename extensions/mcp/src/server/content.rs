//! The traits by which an application offers more than tools: resources, prompts and completions.

use super::client::ConnectedClient;
use futures::future::BoxFuture;
use tokio::sync::broadcast;
use toolwright::{Content, ToolError};

/// A resource that clients can read by its URI. Make it with [`new`](Self::new).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resource {
    /// The URI of the resource; in a [template](Resources::templates), `{name}` is a placeholder.
    pub uri: String,
    /// The name of the resource, which should be short.
    pub name: String,
    /// A description of the resource's content.
    pub description: Option<String>,
    /// The media type, such as `text/markdown`.
    pub media_type: Option<String>,
}

impl Resource {
    /// Describes a resource, or a template of one.
    ///
    /// ```
    /// use toolwright_mcp::Resource;
    ///
    /// let notes = Resource::new("notes://today", "today").description("what is to be done").media_type("text/plain");
    /// assert_eq!(notes.name, "today");
    /// ```
    #[must_use]
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self { uri: uri.into(), name: name.into(), description: None, media_type: None }
    }

    /// Sets the description of the resource's content.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the media type, such as `text/markdown`.
    #[must_use]
    pub fn media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = Some(media_type.into());
        self
    }
}

/// The content of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceContent {
    /// The content is text.
    Text {
        /// The media type, such as `text/markdown`.
        media_type: Option<String>,
        /// The text itself.
        text: String,
    },
    /// The content is any other data.
    Blob {
        /// The media type, such as `image/png`.
        media_type: Option<String>,
        /// The data in base64, with the standard alphabet and padding.
        data: String,
    },
}

/// Lists and reads the resources of an application. `user` is the user of the session, whom the check of tokens or
/// [`McpServer::each_session`](crate::McpServer::each_session) has named; `None` if neither names one.
pub trait Resources: Send + Sync + 'static {
    /// Lists every resource that has a URI of its own, and is not made from a template.
    fn list<'a>(&'a self, user: Option<&'a str>)
    -> BoxFuture<'a, Result<Vec<Resource>, ToolError>>;

    /// Lists the templates, each of which describes the URIs of many resources; by default none.
    fn templates(&self) -> Vec<Resource> {
        Vec::new()
    }

    /// Returns a stream with the URIs of resources that change from now on, for clients that subscribe to them; `None`
    /// if the application does not track changes.
    fn changes(&self) -> Option<broadcast::Receiver<String>> {
        None
    }

    /// Reads the content at a URI; `None` if no resource has the URI.
    fn read<'a>(
        &'a self,
        uri: &'a str,
        user: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<ResourceContent>, ToolError>>;
}

/// A prompt that users of clients can pick: a text with arguments to fill in. Make it with [`new`](Self::new).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prompt {
    /// The name by which users pick the prompt.
    pub name: String,
    /// A description of the prompt's purpose.
    pub description: String,
    /// The names and the meanings of the prompt's arguments; each has to be filled in.
    pub arguments: Vec<(String, String)>,
}

impl Prompt {
    /// Makes a prompt without arguments.
    ///
    /// ```
    /// use toolwright_mcp::Prompt;
    ///
    /// let review = Prompt::new("review", "Reviews a file").argument("path", "the file");
    /// assert_eq!(review.arguments.len(), 1);
    /// ```
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into(), arguments: Vec::new() }
    }

    /// Adds an argument, and describes it.
    #[must_use]
    pub fn argument(mut self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.arguments.push((name.into(), description.into()));
        self
    }
}

/// A message in a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PromptMessage {
    /// A message of the user.
    User(Content<'static>),
    /// A message of the model.
    Assistant(Content<'static>),
}

/// The values for the arguments of a prompt, or for the placeholders of a template.
pub type Arguments = std::collections::BTreeMap<String, String>;

/// Lists and fills in the prompts of an application.
pub trait Prompts: Send + Sync + 'static {
    /// Lists every prompt.
    fn list(&self) -> Vec<Prompt>;

    /// Returns the messages of one of the [listed](Self::list) prompts, whose arguments are all filled in. `client` can ask the
    /// user for more.
    fn get<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a Arguments,
        client: &'a ConnectedClient,
    ) -> BoxFuture<'a, Result<Vec<PromptMessage>, ToolError>>;
}

/// The argument for which a user wants completions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Completing {
    /// An argument of the prompt with this name.
    Prompt(String),
    /// A placeholder in a template of resources. The value is the URI of the template.
    Resource(String),
}

/// Completes the text that a user types for an argument.
pub trait Completions: Send + Sync + 'static {
    /// Returns values that begin with `typed`, best first; the first hundred are sent. `filled` holds the arguments that are
    /// already filled in.
    fn complete<'a>(
        &'a self,
        of: &'a Completing,
        argument: &'a str,
        typed: &'a str,
        filled: &'a Arguments,
    ) -> BoxFuture<'a, Result<Vec<String>, ToolError>>;
}
