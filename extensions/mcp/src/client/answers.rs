//! Answers the questions of servers: asks the application's user or its model, or lists its folders. A question without
//! a handler is refused.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use rmcp::model::ClientCapabilities;
use serde_json::{Map, Value, json};

use crate::{ElicitationOutcome, Root};

/// A handler that answers the questions that a server asks the user of the application.
pub trait Elicit: Send + Sync {
    /// Shows the question to the user. The answer is sent to the server, so the user should see which server asks.
    fn elicit<'a>(&'a self, question: &'a Elicitation) -> BoxFuture<'a, ElicitationOutcome>;
}

/// A handler that answers the requests of servers for a completion by the application's model.
pub trait Sample: Send + Sync {
    /// Returns the result of `sampling/createMessage` for these parameters, both in the protocol's form, or the reason for a
    /// refusal, which is sent to the server.
    fn sample<'a>(
        &'a self,
        server: &'a str,
        params: &'a Value,
    ) -> BoxFuture<'a, Result<Value, String>>;
}

/// A question from a server to the user.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Elicitation {
    /// The server's name in the configuration.
    pub server: String,
    /// The question in the server's words, which deserve no more trust than the server.
    pub message: String,
    /// The JSON Schema of the answer: an object whose properties are simple values.
    pub schema: Value,
}

impl Elicitation {
    /// Makes an answer from the defaults in the schema, and leaves out each property that has no default.
    #[must_use]
    pub fn defaults(&self) -> Value {
        let properties = self.schema["properties"].as_object().into_iter().flatten();
        let given =
            properties.filter_map(|(name, it)| Some((name.clone(), it.get("default")?.clone())));
        Value::Object(given.collect::<Map<_, _>>())
    }
}

/// The handlers that answer the questions of servers. A kind of question without a handler is refused, and servers
/// learn at the handshake which kinds are answered. A server may ask 16 questions during one call, which are answered
/// one after the other; questions outside of a call are refused.
///
/// ```
/// use futures::future::{BoxFuture, FutureExt as _};
/// use toolwright_mcp::{Answers, Elicit, Elicitation, ElicitationOutcome};
///
/// /// Agrees to what each server proposes.
/// struct Defaults;
///
/// impl Elicit for Defaults {
///     fn elicit<'a>(&'a self, question: &'a Elicitation) -> BoxFuture<'a, ElicitationOutcome> {
///         async { ElicitationOutcome::Accepted(question.defaults()) }.boxed()
///     }
/// }
///
/// let answers = Answers::new().elicit(Defaults).root("file:///home/ada/project", "the project");
/// # let _ = answers;
/// ```
#[derive(Clone, Default)]
pub struct Answers {
    elicit: Option<Arc<dyn Elicit>>,
    sample: Option<Arc<dyn Sample>>,
    roots: Vec<Root>,
}

impl Answers {
    /// Makes answers without handlers, which refuse every question of a server.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the handler that puts questions to the user.
    #[must_use]
    pub fn elicit(self, elicit: impl Elicit + 'static) -> Self {
        Self { elicit: Some(Arc::new(elicit)), ..self }
    }

    /// Sets the handler that passes requests of servers on to the model.
    #[must_use]
    pub fn sample(self, sample: impl Sample + 'static) -> Self {
        Self { sample: Some(Arc::new(sample)), ..self }
    }

    /// Names a folder in which servers may work. The servers themselves have to respect this limit; this application
    /// does not enforce it.
    #[must_use]
    pub fn root(mut self, uri: impl Into<String>, name: impl Into<String>) -> Self {
        self.roots.push(Root { uri: uri.into(), name: Some(name.into()) });
        self
    }

    /// Returns the capabilities that the client announces to a server at the handshake.
    pub(super) fn capabilities(&self) -> ClientCapabilities {
        let mut offered = ClientCapabilities::default();
        offered.elicitation = self.elicit.as_ref().map(|_| Default::default());
        offered.sampling = self.sample.as_ref().map(|_| Default::default());
        offered.roots = (!self.roots.is_empty()).then(Default::default);
        offered
    }

    /// Returns the result of a server's request, or the reason why the request is refused.
    pub(super) async fn respond(
        &self,
        server: &str,
        method: &str,
        params: Value,
    ) -> Result<Value, String> {
        let unanswered = || format!("this application does not answer `{method}`");
        match method {
            "elicitation/create" => {
                let Some(elicit) = &self.elicit else { return Err(unanswered()) };
                if params["mode"].as_str().is_some_and(|mode| mode != "form") {
                    return Err("this application shows only forms".to_owned());
                }
                let message = params["message"].as_str().unwrap_or_default().to_owned();
                let schema = params["requestedSchema"].clone();
                let question = Elicitation { server: server.to_owned(), message, schema };
                Ok(match elicit.elicit(&question).await {
                    ElicitationOutcome::Accepted(content) => {
                        json!({"action": "accept", "content": content})
                    }
                    ElicitationOutcome::Declined => json!({"action": "decline"}),
                    ElicitationOutcome::Cancelled => json!({"action": "cancel"}),
                })
            }
            "sampling/createMessage" => match &self.sample {
                Some(sample) => sample.sample(server, &params).await,
                None => Err(unanswered()),
            },
            "roots/list" if !self.roots.is_empty() => {
                let roots = self.roots.iter().map(|it| json!({"uri": it.uri, "name": it.name}));
                Ok(json!({"roots": roots.collect::<Vec<_>>()}))
            }
            _ => Err(unanswered()),
        }
    }
}

impl fmt::Debug for Answers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Answers")
            .field("elicits", &self.elicit.is_some())
            .field("samples", &self.sample.is_some())
            .field("roots", &self.roots)
            .finish()
    }
}
