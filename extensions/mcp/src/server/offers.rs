//! Answers requests about the resources, prompts and completions of an application.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::ErrorData;
use rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, ContentBlock, GetPromptRequestParams,
    GetPromptResult, PromptArgument, ReadResourceResult, Reference, ResourceContents,
    ResourceTemplate, Role,
};
use serde_json::Value;
use toolwright::dialect::call_tool_result;
use toolwright::{Content, Output, ToolError};

use super::content::{
    Arguments, Completing, Completions, Prompt, PromptMessage, Prompts, Resource, ResourceContent,
    Resources,
};

use super::client::ConnectedClient;
use super::elicitation::ElicitationApprover;

/// The maximum number of resources to which a session, or one request of a client without a session, may subscribe.
pub(super) const MOST_SUBSCRIBED: usize = 1024;

/// The things that a server offers besides tools.
#[derive(Clone, Default)]
pub(super) struct Offers {
    pub(super) resources: Option<Arc<dyn Resources>>,
    pub(super) prompts: Option<Arc<dyn Prompts>>,
    pub(super) completions: Option<Arc<dyn Completions>>,
    /// Whether the services of each run include a `ConnectedClient`.
    pub(super) client: bool,
    /// The approver that asks the users of clients for decisions.
    pub(super) approver: Option<ElicitationApprover>,
}

impl Offers {
    /// Reports whether a tool or a prompt can ask the client.
    pub(super) fn can_ask(&self) -> bool {
        self.client || self.approver.is_some() || self.prompts.is_some()
    }

    pub(super) async fn list(
        &self,
        user: Option<&str>,
    ) -> Result<Vec<rmcp::model::Resource>, ErrorData> {
        let Some(resources) = &self.resources else { return Ok(Vec::new()) };
        let listed = resources.list(user).await.map_err(report_failure)?;
        Ok(listed.into_iter().map(resource).collect())
    }

    pub(super) fn templates(&self) -> Vec<ResourceTemplate> {
        let templates = self.resources.iter().flat_map(|resources| resources.templates());
        templates.map(template).collect()
    }

    pub(super) async fn read(
        &self,
        uri: &str,
        user: Option<&str>,
    ) -> Result<ReadResourceResult, ErrorData> {
        let read = match &self.resources {
            Some(resources) => resources.read(uri, user).await.map_err(report_failure)?,
            None => None,
        };
        let Some(read) = read else {
            let data = serde_json::json!({"uri": uri});
            return Err(ErrorData::resource_not_found("there is no such resource", Some(data)));
        };
        let (contents, media_type) = match read {
            ResourceContent::Text { media_type, text } => {
                (ResourceContents::text(text, uri), media_type)
            }
            ResourceContent::Blob { media_type, data } => {
                (ResourceContents::blob(data, uri), media_type)
            }
        };
        let contents = match media_type {
            Some(media_type) => contents.with_mime_type(media_type),
            None => contents,
        };
        Ok(ReadResourceResult::new(vec![contents]))
    }

    pub(super) fn prompts(&self) -> Vec<rmcp::model::Prompt> {
        let prompts = self.prompts.iter().flat_map(|prompts| prompts.list());
        prompts.map(prompt).collect()
    }

    pub(super) async fn prompt(
        &self,
        request: GetPromptRequestParams,
        client: &ConnectedClient,
    ) -> Result<GetPromptResult, ErrorData> {
        let invalid = |words: String| ErrorData::invalid_params(words, None);
        let found = self.prompts.as_ref().and_then(|prompts| {
            prompts.list().into_iter().find(|it| it.name == request.name).zip(Some(prompts))
        });
        let Some((prompt, prompts)) = found else {
            return Err(invalid(format!("no prompt is called `{}`", request.name)));
        };
        let mut arguments = Arguments::new();
        for (name, value) in request.arguments.unwrap_or_default() {
            let Value::String(value) = value else {
                return Err(invalid(format!("the argument `{name}` is not text")));
            };
            arguments.insert(name, value);
        }
        if let Some((name, _)) =
            prompt.arguments.iter().find(|(name, _)| !arguments.contains_key(name))
        {
            return Err(invalid(format!("the argument `{name}` of the prompt is missing")));
        }
        let messages =
            prompts.get(&prompt.name, &arguments, client).await.map_err(report_failure)?;
        let messages = messages.into_iter().map(message).collect::<Result<_, _>>()?;
        let mut result = GetPromptResult::new(messages);
        result.description = Some(prompt.description);
        Ok(result)
    }

    pub(super) async fn complete(
        &self,
        request: CompleteRequestParams,
    ) -> Result<CompleteResult, ErrorData> {
        let Some(completions) = &self.completions else { return Ok(CompleteResult::default()) };
        let of = match request.r#ref {
            Reference::Prompt(prompt) => Completing::Prompt(prompt.name),
            Reference::Resource(resource) => Completing::Resource(resource.uri),
            _ => return Ok(CompleteResult::default()),
        };
        let filled = request.context.and_then(|context| context.arguments).unwrap_or_default();
        let (filled, argument) = (filled.into_iter().collect(), request.argument);
        let found = completions.complete(&of, &argument.name, &argument.value, &filled).await;
        let mut found = found.map_err(report_failure)?;
        let total = found.len();
        found.truncate(CompletionInfo::MAX_VALUES);
        let has_more = total > found.len();
        let mut info =
            CompletionInfo::new(found).map_err(|error| ErrorData::internal_error(error, None))?;
        info.total = u32::try_from(total).ok();
        info.has_more = Some(has_more);
        Ok(CompleteResult::new(info))
    }
}

/// The URIs of the resources to which a client subscribes.
#[derive(Debug, Default)]
pub(super) struct Subscriptions(Mutex<HashSet<String>>);

impl Subscriptions {
    pub(super) fn of(uris: Vec<String>) -> Self {
        Self(Mutex::new(uris.into_iter().collect()))
    }

    pub(super) fn add(&self, uri: String) -> Result<(), ErrorData> {
        let mut subscribed = self.lock();
        if subscribed.len() >= MOST_SUBSCRIBED && !subscribed.contains(&uri) {
            let words = "the session subscribes to too many resources";
            return Err(ErrorData::invalid_request(words, None));
        }
        subscribed.insert(uri);
        Ok(())
    }

    pub(super) fn remove(&self, uri: &str) {
        self.lock().remove(uri);
    }

    pub(super) fn has(&self, uri: &str) -> bool {
        self.lock().contains(uri)
    }

    pub(super) fn all(&self) -> Vec<String> {
        self.lock().iter().cloned().collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn resource(it: Resource) -> rmcp::model::Resource {
    let mut made = rmcp::model::Resource::new(it.uri, it.name);
    (made.description, made.mime_type) = (it.description, it.media_type);
    made
}

fn template(it: Resource) -> ResourceTemplate {
    let mut made = ResourceTemplate::new(it.uri, it.name);
    (made.description, made.mime_type) = (it.description, it.media_type);
    made
}

fn prompt(it: Prompt) -> rmcp::model::Prompt {
    let arguments = it.arguments.into_iter().map(|(name, description)| {
        PromptArgument::new(name).with_description(description).with_required(true)
    });
    let arguments: Vec<_> = arguments.collect();
    let arguments = (!arguments.is_empty()).then_some(arguments);
    rmcp::model::Prompt::new(it.name, Some(it.description), arguments)
}

fn message(message: PromptMessage) -> Result<rmcp::model::PromptMessage, ErrorData> {
    let (role, content) = match message {
        PromptMessage::User(content) => (Role::User, content),
        PromptMessage::Assistant(content) => (Role::Assistant, content),
    };
    Ok(rmcp::model::PromptMessage::new(role, block(content)?))
}

/// Converts a block into the form that tool results have.
fn block(content: Content<'static>) -> Result<ContentBlock, ErrorData> {
    let answer = toolwright::Answer::from(Output::default().with(content));
    let result = call_tool_result(&answer);
    let block = result.get("content").and_then(|blocks| blocks.get(0)).cloned();
    serde_json::from_value(block.unwrap_or_default()).map_err(|error| {
        tracing::error!(%error, "a block of a prompt does not match the protocol");
        ErrorData::internal_error("the prompt cannot be sent", None)
    })
}

fn report_failure(error: ToolError) -> ErrorData {
    tracing::warn!(%error, "a request of a client failed");
    ErrorData::internal_error(error.message().to_owned(), None)
}
