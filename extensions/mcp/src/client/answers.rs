//! What servers ask of the application, and who answers: its user, its model, its folders. What has no answerer is refused.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use rmcp::model::ClientCapabilities;
use serde_json::{Map, Value, json};

use crate::{ElicitationOutcome, Root};

/// Answers the questions that a server asks the user of the application.
pub trait Elicit: Send + Sync {
    /// Shows the question to the user. The server reads what they answer, so that a person should see which server asks.
    fn elicit<'a>(&'a self, question: &'a Elicitation) -> BoxFuture<'a, ElicitationOutcome>;
}

/// Answers the requests of a server for an answer of the application's model.
pub trait Sample: Send + Sync {
    /// The result of `sampling/createMessage` for these parameters, both as the protocol has them, or why there is none, which
    /// the server reads.
    fn sample<'a>(
        &'a self,
        server: &'a str,
        params: &'a Value,
    ) -> BoxFuture<'a, Result<Value, String>>;
}

/// A question of a server to the user.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Elicitation {
    /// The server, by its name in the configuration.
    pub server: String,
    /// What it asks, in its words: as trustworthy as the server.
    pub message: String,
    /// The JSON Schema of the answer: an object of simple properties.
    pub schema: Value,
}

impl Elicitation {
    /// Makes the answer of which every property has the default that the schema gives it; those without are left out.
    #[must_use]
    pub fn defaults(&self) -> Value {
        let properties = self.schema["properties"].as_object().into_iter().flatten();
        let given =
            properties.filter_map(|(name, it)| Some((name.clone(), it.get("default")?.clone())));
        Value::Object(given.collect::<Map<_, _>>())
    }
}

/// Who answers what servers ask. Without anybody, everything is refused, and servers know it beforehand.
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
    /// Refuses all that servers ask.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets who asks the user.
    #[must_use]
    pub fn elicit(self, elicit: impl Elicit + 'static) -> Self {
        Self { elicit: Some(Arc::new(elicit)), ..self }
    }

    /// Sets who asks the model.
    #[must_use]
    pub fn sample(self, sample: impl Sample + 'static) -> Self {
        Self { sample: Some(Arc::new(sample)), ..self }
    }

    /// Names a folder that servers may work in. Nothing but the server itself limits it to the folder.
    #[must_use]
    pub fn root(mut self, uri: impl Into<String>, name: impl Into<String>) -> Self {
        self.roots.push(Root { uri: uri.into(), name: Some(name.into()) });
        self
    }

    /// The capabilities that a server learns of at the handshake.
    pub(super) fn capabilities(&self) -> ClientCapabilities {
        let mut offered = ClientCapabilities::default();
        offered.elicitation = self.elicit.as_ref().map(|_| Default::default());
        offered.sampling = self.sample.as_ref().map(|_| Default::default());
        offered.roots = (!self.roots.is_empty()).then(Default::default);
        offered
    }

    /// The result of a request, or why there is none.
    pub(super) async fn respond(
        &self,
        server: &str,
        method: &str,
        params: Value,
    ) -> Result<Value, String> {
        let unanswered = || format!("this application answers no `{method}`");
        match method {
            "elicitation/create" => {
                let Some(elicit) = &self.elicit else { return Err(unanswered()) };
                if params["mode"].as_str().is_some_and(|mode| mode != "form") {
                    return Err("this application shows forms alone".to_owned());
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
