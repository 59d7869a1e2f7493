//! Makes the tool of an operation: its description for models, and its implementation.

use std::sync::Arc;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Client, Method, Url};
use serde_json::Value;
use toolwright::address::AddressGuard;
use toolwright::{
    DynamicTool, Footprint, Output, Registration, ResourceKind, ToolContext, ToolError, printable,
};

use crate::answer::{self, Answers};
use crate::argument::{Input, Target};
use crate::credentials::Credentials;
use crate::document::Document;
use crate::plan::Draft;
use crate::request::{Request, Shape};
use crate::security::{Requirement, SecurityScheme};
use crate::send::Sender;

/// The maximum number of characters of a description for models. Some providers accept 1024, including the text that
/// this crate adds.
const LONGEST_DESCRIPTION: usize = 900;

/// The state that all operations of a document share.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) document: Arc<Document>,
    pub(crate) client: Client,
    /// Checks the address of a server that the document names; `None` if the application has set the server.
    pub(crate) guard: Option<AddressGuard>,
    pub(crate) credentials: Vec<Arc<dyn Credentials>>,
    pub(crate) body_limit: usize,
}

/// The server of an HTTP API as a resource, so that calls that write to the same server run in order.
struct Server;

impl ResourceKind for Server {
    const LABEL: &'static str = "api";
}

/// The implementation of an operation's tool.
struct Operation {
    api: Api,
    title: String,
    shape: Shape,
    requirement: Requirement,
    answers: Answers,
}

impl Operation {
    fn request(&self, input: &Value, context: &ToolContext) -> Result<Request, ToolError> {
        self.shape.request(input, &context.idempotency_key())
    }

    async fn call(&self, input: Value, context: ToolContext) -> Result<Output, ToolError> {
        let request = self.request(&input, &context)?;
        let api = &self.api;
        let sender = Sender {
            client: &api.client,
            guard: api.guard.as_ref(),
            credentials: &api.credentials,
            limit: api.body_limit,
        };
        let response = sender.send(&request, &self.requirement, &context).await?;
        answer::of(&self.title, api.document.title(), &response, &self.answers, context.now())
    }
}

/// Makes the tool of an operation with this server and the credentials of this requirement.
///
/// # Errors
/// When requests of the operation cannot be made.
pub(crate) fn of(
    api: &Api,
    draft: Draft<'_>,
    server: &Url,
    requirement: Requirement,
) -> Result<Registration, String> {
    let (description, group) = (description(api, &draft), draft.group());
    let adaptation = draft.adaptation();
    let title = draft.found.title();
    let responses = draft.found.at.get("responses").map(|it| it.place);
    let summary = draft.found.at.text("summary").map(|it| printable::line(it.trim()));
    let key_header = match draft.input.key_header.as_deref().map(HeaderName::try_from) {
        Some(Err(error)) => return Err(error.to_string()),
        Some(Ok(name)) => Some(name),
        None => None,
    };
    let method =
        Method::from_bytes(draft.found.method.as_bytes()).map_err(|error| error.to_string())?;
    let reserved = reserved(&draft);
    let implementation = implementation(&draft, server, &requirement);
    let operation = Arc::new(Operation {
        api: api.clone(),
        title,
        shape: Shape {
            method,
            server: server.clone(),
            path: draft.path,
            arguments: draft.input.arguments,
            body: draft.input.body,
            body_is_required: draft.input.body_is_required,
            reserved,
            key_header,
            accept: HeaderValue::from_static("application/json, */*;q=0.5"),
        },
        requirement,
        answers: Answers::new(Arc::clone(&api.document), responses),
    });
    let preview = Arc::clone(&operation);
    let properties = draft.input.schema.get("properties").and_then(serde_json::Value::as_object);
    let sinks: Vec<String> = properties.into_iter().flat_map(|it| it.keys().cloned()).collect();
    let (effect, resource) = (draft.effect, server.to_string());
    let mut tool =
        DynamicTool::new(draft.name, description, draft.input.schema, move |input, context| {
            let operation = Arc::clone(&operation);
            async move { operation.call(input, context).await }
        });
    tool = tool.effect(effect).danger(draft.danger).exposure(draft.exposure).tag("openapi");
    tool = tool.implementation(implementation);
    tool = tool.preview_by(move |input, context| {
        let request = preview.request(&input, &context).map(|it| it.to_string());
        async move { request }
    });
    tool = tool.footprint_by(move |_| match effect {
        toolwright::Effect::Read => Footprint::nothing().reading::<Server>(resource.as_str()),
        _ => Footprint::nothing().writing::<Server>(resource.as_str()),
    });
    // All arguments of a call are sent to the server, so all are sinks.
    tool = tool.sinks(sinks);
    if let Some(group) = group {
        tool = tool.group(group);
    }
    if let Some(summary) = summary.filter(|it| !it.is_empty() && it.chars().count() <= 100) {
        tool = tool.title(summary);
    }
    Ok(tool.adapted(adaptation))
}

/// Returns what a request is made of besides the arguments. An approval does not apply to a tool with another
/// implementation, since another document can describe a different request in the same words.
fn implementation(draft: &Draft<'_>, server: &Url, requirement: &Requirement) -> String {
    let Draft { found, input, path, .. } = draft;
    let targets: Vec<_> = input.arguments.iter().map(|it| (&it.name, &it.target)).collect();
    let Input { body, body_is_required, key_header, .. } = input;
    let method = &found.method;
    format!(
        "{method} {server} {path:?} {targets:?} {body:?} {body_is_required} {key_header:?} {requirement:?}"
    )
}

/// Returns the keys of parameters, of credentials and of the query in the path, which the fields of an object must not
/// use.
fn reserved(draft: &Draft<'_>) -> Vec<String> {
    let parameters = draft.input.arguments.iter().filter_map(|it| match &it.target {
        Target::Parameter { name, .. } => Some(name.clone()),
        Target::Field(_) | Target::Body => None,
    });
    let credentials = draft.requirements.iter().flatten().filter_map(SecurityScheme::key);
    parameters.chain(credentials.map(str::to_owned)).chain(draft.path.keys()).collect()
}

/// Returns the description for models. It names the operation, so that a person's approval does not apply to another
/// operation that the document describes in the same words.
fn description(api: &Api, draft: &Draft<'_>) -> String {
    let written = draft.route.and_then(|it| it.description.clone());
    let written = written.unwrap_or_else(|| draft.found.description(&api.document));
    let written = printable::lines(&written);
    let mut text: String = written.chars().take(LONGEST_DESCRIPTION).collect();
    if text.len() < written.len() {
        text.push('…');
    }
    let title: String = printable::line(api.document.title()).chars().take(60).collect();
    let source = format!("({} of {title}.)", printable::line(&draft.found.title()));
    match text.trim() {
        "" => source,
        text => format!("{text}\n\n{source}"),
    }
}
