//! The requests of a client, answered: the protocol on one side, the session on the other.

use std::sync::{Arc, Weak};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    GetPromptRequestParams, GetPromptResponse, Implementation, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressToken, PromptsCapability, ReadResourceRequestParams, ReadResourceResponse,
    ResourceUpdatedNotificationParam, ResourcesCapability, ServerCapabilities, ServerConfig,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::sync::{broadcast, mpsc, watch};
use toolwright::{Listening, Outcome};

use super::McpServer;
use super::answer;
use super::listing::StaleCursor;
use super::progress::{Report, Scale};
use super::session::{Planned, Session};

pub(super) struct Handler {
    server: McpServer,
    session: Arc<Session>,
    /// The newest generation of the registry.
    changes: watch::Receiver<u64>,
    _listening: Listening,
    /// Whether the session ends with this value.
    ends: bool,
}

impl Handler {
    pub(super) fn new(server: McpServer, session: Arc<Session>) -> Self {
        let (sender, changes) = watch::channel(server.executor.registry().generation());
        let listening = server.executor.registry().listen(move |event| {
            sender.send_replace(event.generation);
        });
        Self { server, session, changes, _listening: listening, ends: false }
    }

    /// Lets the session end when nothing more can come of it.
    #[cfg(feature = "http-server")]
    pub(super) fn ending(mut self) -> Self {
        self.ends = true;
        self
    }

    pub(super) fn session(&self) -> Arc<Session> {
        Arc::clone(&self.session)
    }

    async fn call(
        &self,
        planned: &Planned,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let performing = self.session.perform(planned, context.ct.clone());
        let outcome = match context.meta.get_progress_token() {
            Some(token) => {
                let reports = self.session.reports.of(&planned.id);
                let outcome = reported(performing, reports, &token, &context.peer).await;
                self.session.reports.forget(&planned.id);
                outcome
            }
            None => performing.await,
        };
        answer::result(planned.tool(), outcome).map(CallToolResponse::Complete)
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
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.server.offers.prompt(request).await.map(GetPromptResponse::Complete)
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
        _: RequestContext<RoleServer>,
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
        let (tools, next) = page.map_err(|StaleCursor| {
            let words = "the cursor is of no list of this session, or the tools have changed since; list again without a cursor";
            ErrorData::invalid_params(words, None)
        })?;
        Ok(ListToolsResult { next_cursor: next, ..ListToolsResult::with_all_items(tools) })
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
        self.session.client.connect(&context.peer);
        self.call(&planned, &context).await
    }

    /// Clients of the revisions that begin with `initialize` are notified without having asked.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if let Some(changes) = self.server.offers.resources.as_ref().and_then(|it| it.changes()) {
            tokio::spawn(notified(changes, context.peer.clone(), Arc::downgrade(&self.session)));
        }
        let mut changes = self.changes.clone();
        changes.mark_unchanged();
        tokio::spawn(async move {
            while changes.changed().await.is_ok() {
                if context.peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        });
    }

    /// Clients of later revisions subscribe.
    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes.clone();
        changes.mark_unchanged();
        let notify = async {
            while changes.changed().await.is_ok() {
                if context.sink().notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            () = notify => {}
            () = context.cancelled() => {}
        }
        Ok(())
    }
}

/// Notifies a client of the resources that it subscribes to, as long as its session lasts.
async fn notified(
    mut changes: broadcast::Receiver<String>,
    peer: Peer<RoleServer>,
    session: Weak<Session>,
) {
    loop {
        let changed = match changes.recv().await {
            Ok(changed) => changed,
            // A client reads the resource as it is by then.
            Err(broadcast::error::RecvError::Lagged(_)) => continue,
            Err(broadcast::error::RecvError::Closed) => return,
        };
        let Some(session) = session.upgrade() else { return };
        if session.subscribed.has(&changed)
            && peer
                .notify_resource_updated(ResourceUpdatedNotificationParam::new(changed))
                .await
                .is_err()
        {
            return;
        }
    }
}

/// Performs a call and passes on what it reports; every report comes before the answer.
async fn reported(
    performing: impl Future<Output = Outcome>,
    mut reports: mpsc::Receiver<Report>,
    token: &ProgressToken,
    peer: &Peer<RoleServer>,
) -> Outcome {
    let mut scale = Scale::default();
    let mut performing = std::pin::pin!(performing);
    let outcome = loop {
        let report = tokio::select! {
            outcome = &mut performing => break outcome,
            Some(report) = reports.recv() => report,
        };
        send(&mut scale, token, peer, report).await;
    };
    while let Ok(report) = reports.try_recv() {
        send(&mut scale, token, peer, report).await;
    }
    outcome
}

async fn send(scale: &mut Scale, token: &ProgressToken, peer: &Peer<RoleServer>, report: Report) {
    if let Some(notification) = scale.next(token, report) {
        // A client that is gone ends the session, which cancels the call.
        let _ = peer.notify_progress(notification).await;
    }
}
