//! Answers the requests of a server, and receives its notifications.

#![expect(deprecated, reason = "servers of earlier revisions ask for samples and roots")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{
    ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ErrorData, Implementation, ListRootsResult, ProgressNotificationParam,
    ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::answers::Answers;
use super::questions::Questions;
use super::reports::Reports;

/// Handles the messages that the server of one connection sends on its own initiative. `rmcp` calls these methods.
#[derive(Debug, Clone)]
pub(super) struct Handler {
    pub(super) server: String,
    /// Whether the server has changed its tools since they were last listed.
    pub(super) changed: Arc<AtomicBool>,
    pub(super) reports: Reports,
    pub(super) questions: Questions,
    pub(super) answers: Answers,
}

impl Handler {
    /// Puts a question to the application, one at a time. If the server cancels the question or its connection ends, the
    /// application is no longer asked.
    async fn ask<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
        context: RequestContext<RoleClient>,
    ) -> Result<T, ErrorData> {
        let refused = |why: String| ErrorData::invalid_request(why, None);
        self.questions.count().map_err(refused)?;
        let answer = async {
            let _one = self.questions.one.lock().await;
            self.answer(method, params).await
        };
        let answer = context.ct.run_until_cancelled(answer).await;
        answer.unwrap_or_else(|| Err(refused("the question was cancelled".to_owned())))
    }

    async fn answer<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<T, ErrorData> {
        let failed = |why: String| ErrorData::invalid_request(why, None);
        let params = serde_json::to_value(params).map_err(|error| failed(error.to_string()))?;
        let result = self.answers.respond(&self.server, method, params).await.map_err(failed)?;
        serde_json::from_value(result).map_err(|error| {
            let why = format!("the application's answer to `{method}` is invalid: {error}");
            ErrorData::internal_error(why, None)
        })
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("toolwright", env!("CARGO_PKG_VERSION"));
        let mut config = ClientConfig::new(self.answers.capabilities(), us);
        config.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        config
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.ask("elicitation/create", &params, context).await
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.ask("sampling/createMessage", &params, context).await
    }

    /// Lists the folders of the application, which costs nothing, so servers may ask for them at any time.
    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        self.answer("roots/list", &json!({})).await
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.reports.receive(progress);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::SeqCst);
    }
}
