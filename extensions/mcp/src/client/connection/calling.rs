//! One call of a server's tool: the questions that the server asks during the call, and its progress reports.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use futures::StreamExt as _;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResponse, CancelledNotificationParam,
    ClientRequest, ProgressNotificationParam, RequestId, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions};
use rmcp::{RoleClient, ServiceError};
use toolwright::{ErrorClass, ToolContext, ToolError};

use super::{Attempt, Line, Server};
use crate::client::http::is_session_unknown;
use crate::client::untrusted::escaped;

/// How many times a server may ask for input during one call.
const MOST_ROUNDS: usize = 16;

/// The maximum time of a call whose server keeps reporting progress, as a multiple of the time-out.
const MOST_EXTENDED: u32 = 10;

/// The maximum length of a progress message that is passed on, in characters.
const LONGEST_REPORT: usize = 500;

impl Server {
    /// Makes the call. As long as the server asks for input, repeats it with the answers.
    pub(super) async fn rounds(
        &self,
        line: Line,
        mut request: CallToolRequestParams,
        patience: Option<Duration>,
        context: &ToolContext,
    ) -> Result<Attempt, ToolError> {
        for round in 0..MOST_ROUNDS {
            let answer = match ask_once(&line, request.clone(), patience, context).await {
                Ok(answer) => answer,
                Err(Failure::Silent(after)) => return Err(self.timed_out(after)),
                // Only in the first round has the server not worked on the call: once it has asked for input, the work
                // has begun.
                Err(Failure::Service(error)) if round == 0 && is_session_unknown(&error) => {
                    return Ok(Attempt::SessionUnknown(line));
                }
                Err(Failure::Service(error)) => return Err(self.explain(&line, error).await),
            };
            let asked = match answer {
                CallToolResponse::InputRequired(asked) => asked,
                answer => return Ok(Attempt::Answered(Box::new(answer))),
            };
            let mut responses = BTreeMap::new();
            for (key, question) in asked.input_requests.unwrap_or_default() {
                let question = serde_json::to_value(question).unwrap_or_default();
                let method = question["method"].as_str().unwrap_or_default();
                let params = question["params"].clone();
                let response = self.answers().respond(&self.name, method, params).await;
                let response = response.map_err(|why| {
                    let words = format!("the MCP server `{}` asks for more: {why}", self.name);
                    ToolError::new("unsupported_question", words).class(ErrorClass::Unknown)
                })?;
                responses.insert(key, response);
            }
            request.input_responses = (!responses.is_empty()).then_some(responses);
            request.request_state = asked.request_state;
        }
        let words = format!(
            "the MCP server `{}` asked {MOST_ROUNDS} times in the middle of one call, expected an end",
            self.name
        );
        Err(ToolError::new("asked_without_end", words).class(ErrorClass::Unknown))
    }
}

/// The reason why a call has no result.
enum Failure {
    Service(ServiceError),
    /// The time of the call is over: the server has sent nothing for this long, or has only reported progress.
    Silent(Duration),
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        Self::Service(error)
    }
}

/// Sends the call once. Each progress report of the server is passed on and restarts the time-out. The request is
/// cancelled when its time is over or its caller drops the future.
async fn ask_once(
    line: &Line,
    request: CallToolRequestParams,
    patience: Option<Duration>,
    context: &ToolContext,
) -> Result<CallToolResponse, Failure> {
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(request));
    let options = PeerRequestOptions::no_options();
    let handle = line.peer.send_request_with_option(request, options).await?;
    let mut reports = line.progress.subscribe(handle.progress_token.clone()).await;
    let mut waits = Waits { peer: line.peer.clone(), id: Some(handle.id.clone()) };
    let mut answer = pin!(handle.await_response());
    let at_most = patience.map(|patience| patience * MOST_EXTENDED);
    let mut at_most = pin!(sleep(at_most));
    let mut silence = pin!(sleep(patience));
    let answer = loop {
        tokio::select! {
            biased;
            Some(progress) = reports.next() => {
                report(context, &progress);
                silence.set(sleep(patience));
            }
            answer = &mut answer => break answer,
            after = &mut silence => return Err(Failure::Silent(after)),
            after = &mut at_most => return Err(Failure::Silent(after)),
        }
    };
    waits.id = None;
    match answer? {
        ServerResult::CallToolResult(answer) => Ok(CallToolResponse::Complete(answer)),
        ServerResult::InputRequiredResult(asked) => Ok(CallToolResponse::InputRequired(asked)),
        ServerResult::CreateTaskResult(task) => Ok(CallToolResponse::Task(task)),
        _ => Err(ServiceError::UnexpectedResponse.into()),
    }
}

/// Sleeps for this time and returns the time. Without a time, never returns.
async fn sleep(time: Option<Duration>) -> Duration {
    match time {
        Some(time) => {
            tokio::time::sleep(time).await;
            time
        }
        None => std::future::pending().await,
    }
}

/// Passes on a progress report, escaped and cut, because the server is not trusted.
fn report(context: &ToolContext, progress: &ProgressNotificationParam) {
    let total = progress.total.filter(|total| *total > 0.0);
    let part = total.map(|total| (progress.progress / total).clamp(0.0, 1.0));
    let message = escaped(progress.message.as_deref().unwrap_or_default());
    let message: String = message.chars().take(LONGEST_REPORT).collect();
    context.progress(&message, part.filter(|part| !part.is_nan()));
}

/// A request whose caller waits for the answer. If this value is dropped before the answer has arrived, the request is
/// cancelled.
struct Waits {
    peer: Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for Waits {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let peer = self.peer.clone();
        let reason = "the caller stopped waiting for the answer".to_owned();
        runtime.spawn(async move {
            let _ = peer
                .notify_cancelled(CancelledNotificationParam::new(Some(id), Some(reason)))
                .await;
        });
    }
}
