//! Answers the requests of a client: translates between the protocol and the session.

use std::pin::pin;
use std::sync::Arc;

use futures::FutureExt as _;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
    CompleteResult, CreateTaskResult, CustomRequest, CustomResult, GetPromptRequestParams,
    GetPromptResponse, GetTaskParams, GetTaskResult, Implementation, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    PromptsCapability, ReadResourceRequestParams, ReadResourceResponse, ResourcesCapability,
    ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, TASKS_EXTENSION_ID, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::watch;
use toolwright::{CancellationToken, Listening, Outcome};
use tracing::{Instrument as _, Span};

use super::McpServer;
use super::answer;
use super::changes;
use super::exchange::Exchange;
use super::lines::Pages;
use super::listing::StaleCursor;
use super::misfit;
use super::offers::MOST_SUBSCRIBED;
use super::progress::Audience;
use super::rounds::{Input, Purpose, Round};
use super::session::Session;
use crate::trace::TraceContext;

pub(super) struct Handler {
    server: Arc<McpServer>,
    session: Arc<Session>,
    /// Receives the latest generation of the registry.
    changes: watch::Receiver<u64>,
    _listening: Listening,
    /// Whether dropping this handler ends the session.
    ends: bool,
    /// The pages of tools that the transport has to write.
    pages: Option<Pages>,
}

impl Handler {
    pub(super) fn new(server: Arc<McpServer>, session: Arc<Session>) -> Self {
        let (sender, changes) = watch::channel(server.executor.registry().generation());
        let listening = server.executor.registry().listen(move |event| {
            sender.send_replace(event.generation);
        });
        Self { server, session, changes, _listening: listening, ends: false, pages: None }
    }

    /// Makes the session end when this handler is dropped.
    #[cfg(feature = "http-server")]
    pub(super) fn ending(mut self) -> Self {
        self.ends = true;
        self
    }

    pub(super) fn session(&self) -> Arc<Session> {
        Arc::clone(&self.session)
    }

    /// Lets the transport write the pages of tools, and stores them in these `pages`.
    pub(super) fn with_pages(mut self, pages: Pages) -> Self {
        self.pages = Some(pages);
        self
    }

    /// Makes the span of a call whose client has sent a trace context.
    fn span(&self, context: &RequestContext<RoleServer>) -> Span {
        let text = |key: &str| context.meta.get(key).and_then(Value::as_str);
        let trace = text("traceparent").and_then(|it| TraceContext::new(it, text("tracestate")));
        let made = trace.as_ref().zip(self.server.span.as_ref()).map(|(trace, make)| make(trace));
        made.unwrap_or_else(Span::none)
    }

    /// Reports whether the answer to the request may be a question.
    fn asks(&self, context: &RequestContext<RoleServer>) -> bool {
        self.server.offers.can_ask() && Exchange::is_needed(context)
    }
}

impl Drop for Handler {
    fn drop(&mut self) {
        if !self.ends {
            return;
        }
        let session = self.session();
        session.cancel();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { session.end().await });
        }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let offers = &self.server.offers;
        let mut capabilities =
            ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        capabilities.resources = offers.resources.as_ref().map(|resources| {
            let mut resources_capability = ResourcesCapability::default();
            resources_capability.subscribe = resources.changes().is_some().then_some(true);
            resources_capability
        });
        capabilities.prompts = offers.prompts.as_ref().map(|_| PromptsCapability::default());
        capabilities.completions = offers.completions.as_ref().map(|_| JsonObject::new());
        if self.server.executor.worker().is_some() {
            let extensions = capabilities.extensions.get_or_insert_default();
            extensions.insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
        }
        capabilities.logging = offers.client.then(JsonObject::new);
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new(&*self.server.name, &*self.server.version);
        info.instructions.clone_from(&self.server.instructions);
        info
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = self.server.offers.list(self.session.user()).await?;
        Ok(ListResourcesResult::with_all_items(listed))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(self.server.offers.templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = self.server.offers.read(&request.uri, self.session.user()).await?;
        Ok(ReadResourceResponse::Complete(read))
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // A user who may not read a resource must not learn when the resource changes.
        self.server.offers.read(&request.uri, self.session.user()).await?;
        self.session.subscribed.add(request.uri)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session.subscribed.remove(&request.uri);
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(self.server.offers.prompts()))
    }

    async fn get_prompt(
        &self,
        mut request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let (state, answers) = (request.request_state.take(), request.input_responses.take());
        let purpose = self.asks(&context).then(|| {
            let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
            Purpose::of("prompts/get", &request.name, &arguments.to_string())
        });
        self.session.client.connect(&context.peer);
        let work = |exchange: Option<Arc<Exchange>>, stop: CancellationToken| {
            let (offers, client) = (self.server.offers.clone(), self.session.client.clone());
            async move {
                tokio::select! {
                    prompt = offers.prompt(request, &client) => {
                        let lacking = exchange.and_then(|exchange| exchange.lacking());
                        // The prompt failed after it had asked for a capability that the client lacks, so the error
                        // names that capability.
                        prompt.map_err(|error| lacking.map_or(error, ErrorData::missing_required_client_capability))
                    }
                    () = stop.cancelled() => Err(ErrorData::internal_error("the prompt was cancelled", None)),
                }
            }
        };
        let input = Input { state, answers };
        Ok(match self.session.prompts.round(purpose, input, &context, work).await? {
            Round::Done(prompt) => GetPromptResponse::Complete(prompt),
            Round::Asks(asks) => GetPromptResponse::InputRequired(asks),
        })
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.server.offers.complete(request).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session.client.want(request.level);
        Ok(())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let pinned = match cursor {
            Some(_) => self.session.pinned(),
            None => self.session.pin().map_err(|error| {
                tracing::error!(%error, "the tools cannot be listed");
                ErrorData::internal_error("the tools cannot be listed", None)
            })?,
        };
        let page = pinned.shown.page(cursor.as_deref(), self.server.page);
        let page = page.map_err(|StaleCursor| {
            let words = "the cursor is of no list of this session, or the tools have changed since; list again without a cursor";
            ErrorData::invalid_params(words, None)
        })?;
        let stands_in = |pages: &Pages| pages.stand_in(&context.id, &pinned.shown.text(&page));
        let tools = match self.pages.as_ref().is_some_and(stands_in) {
            true => Vec::new(),
            false => pinned.shown.tools(&page).to_vec(),
        };
        let next_cursor = pinned.shown.next(&page);
        Ok(ListToolsResult { next_cursor, ..ListToolsResult::with_all_items(tools) })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(planned) = self.session.plan(&request.name, request.arguments) else {
            let words = format!("no tool is called `{}`", request.name);
            return Err(ErrorData::invalid_params(words, None));
        };
        if self.server.offers.can_ask() {
            self.session.client.connect(&context.peer);
        }
        let purpose = self.asks(&context).then(|| planned.purpose());
        let span = self.span(&context);
        let takes_tasks = context.client_capabilities().is_some_and(|it| it.supports_tasks());
        let work = |exchange: Option<Arc<Exchange>>, cancelled: CancellationToken| {
            let session = self.session();
            let audience = Audience::of(&context, exchange.as_ref());
            async move {
                let performing = pin!(session.perform(&planned, cancelled).instrument(span));
                let outcome = match audience {
                    Some(audience) => {
                        let reports = session.reports.of(&planned.id);
                        let performing =
                            performing.inspect(|_: &Outcome| session.reports.forget(&planned.id));
                        audience.perform(performing, reports).await
                    }
                    None => performing.await,
                };
                if let Some(task) = takes_tasks.then(|| session.task(&planned, &outcome)).flatten()
                {
                    return Ok(CallToolResponse::Task(CreateTaskResult::new(task)));
                }
                // A listed tool, such as `mcp_info`, may itself not know the tool that its input names.
                let unknown =
                    (!planned.is_listed).then(|| answer::unknown_tool(&outcome)).flatten();
                if let Some(error) = unknown {
                    return Err(error);
                }
                let lacking = exchange.and_then(|exchange| exchange.lacking());
                answer::result(planned.tool(), outcome, lacking).map(CallToolResponse::Complete)
            }
        };
        let input = Input { state: request.request_state, answers: request.input_responses };
        Ok(match self.session.calls.round(purpose, input, &context, work).await? {
            Round::Done(response) => response,
            Round::Asks(asks) => CallToolResponse::InputRequired(asks),
        })
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.session.tasks.get(&request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session.tasks.get(&request.task_id)?;
        match request.input_responses.keys().next() {
            None => Ok(()),
            Some(key) => {
                let words = format!("the task asks nothing, and `{key}` answers it");
                Err(ErrorData::invalid_params(words, None))
            }
        }
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // The future of every request is as large as the largest of these futures, so this large future is boxed.
        Box::pin(self.session.cancel_task(&request.task_id)).await
    }

    /// Answers a request that `rmcp` could not parse: its method is unknown, or its params do not fit the method.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let has_sessions = context.protocol_version().is_none_or(|it| it.has_initialize());
        Err(misfit::error(request, has_sessions))
    }

    /// Begins to notify the client of changes. A client of a revision with `initialize` is notified of changes to the
    /// list of tools without subscribing, and of changes to the resources to which it subscribes.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        // A client may send this notification any number of times.
        if self.session.begins_notifying() {
            changes::notify(&self.server, &self.session, context.peer, self.changes.clone());
        }
    }

    /// Returns the notifications that the server grants to a client of a revision without `initialize`. Such a client
    /// has to subscribe to notifications.
    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(resources) = &mut accepted.resource_subscriptions {
            resources.truncate(MOST_SUBSCRIBED);
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let of_tools = changes::notify_of_tools(&context, self.changes.clone());
        tokio::select! {
            () = of_tools => {}
            () = changes::notify_of_resources(&context, &self.server, &self.session) => {}
            () = context.cancelled() => {}
        }
        Ok(())
    }
}
