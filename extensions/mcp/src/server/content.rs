//! What a server has besides tools, behind traits that the application implements: resources, prompts, completions.

use super::client::ConnectedClient;
use futures::future::BoxFuture;
use tokio::sync::broadcast;
use toolwright::{Content, ToolError};

/// Something that clients can read by its address. Made with [`new`](Self::new).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resource {
    /// The address; of a [template](Resources::templates), with `{name}` where a value belongs.
    pub uri: String,
    /// A short name.
    pub name: String,
    /// What it holds.
    pub description: Option<String>,
    /// Such as `text/markdown`.
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

    /// Says what it holds.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Such as `text/markdown`.
    #[must_use]
    pub fn media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = Some(media_type.into());
        self
    }
}

/// What a resource holds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceContent {
    /// Text.
    Text {
        /// Such as `text/markdown`.
        media_type: Option<String>,
        /// What it says.
        text: String,
    },
    /// Anything else.
    Blob {
        /// Such as `image/png`.
        media_type: Option<String>,
        /// Standard base64 with padding.
        data: String,
    },
}

/// The resources of an application. `user` is the one whom the check of tokens has named.
pub trait Resources: Send + Sync + 'static {
    /// Every resource that has an address of its own.
    fn list<'a>(&'a self, user: Option<&'a str>)
    -> BoxFuture<'a, Result<Vec<Resource>, ToolError>>;

    /// The families of resources that share the form of an address; none unless implemented.
    fn templates(&self) -> Vec<Resource> {
        Vec::new()
    }

    /// The addresses of resources that change from now on, for clients that subscribe to them; nothing where changes are not
    /// noticed.
    fn changes(&self) -> Option<broadcast::Receiver<String>> {
        None
    }

    /// What is at an address; nothing where there is no such resource.
    fn read<'a>(
        &'a self,
        uri: &'a str,
        user: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<ResourceContent>, ToolError>>;
}

/// A text with gaps that a user of a client picks. Made with [`new`](Self::new).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prompt {
    /// The name by which it is picked.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The names of its gaps, and what belongs there; each has to be filled.
    pub arguments: Vec<(String, String)>,
}

impl Prompt {
    /// Makes a prompt without gaps.
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

    /// Adds a gap, and says what belongs there.
    #[must_use]
    pub fn argument(mut self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.arguments.push((name.into(), description.into()));
        self
    }
}

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PromptMessage {
    /// As if the user had said it.
    User(Content<'static>),
    /// As if the model had said it.
    Assistant(Content<'static>),
}

/// What is filled into the gaps of a prompt, or of an address.
pub type Arguments = std::collections::BTreeMap<String, String>;

/// The prompts of an application.
pub trait Prompts: Send + Sync + 'static {
    /// Every prompt.
    fn list(&self) -> Vec<Prompt>;

    /// The messages of one of the [listed](Self::list) prompts, every gap of which is filled. `client` asks the user for more.
    fn get<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a Arguments,
        client: &'a ConnectedClient,
    ) -> BoxFuture<'a, Result<Vec<PromptMessage>, ToolError>>;
}

/// What can be completed while a user types.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Completing {
    /// A gap of the prompt of this name.
    Prompt(String),
    /// A gap of the address of this template.
    Resource(String),
}

/// Completes what a user types into a gap.
pub trait Completions: Send + Sync + 'static {
    /// Values that begin like `typed`, best first; the first hundred are sent. `filled` has the gaps that are filled already.
    fn complete<'a>(
        &'a self,
        of: &'a Completing,
        argument: &'a str,
        typed: &'a str,
        filled: &'a Arguments,
    ) -> BoxFuture<'a, Result<Vec<String>, ToolError>>;
}
