//! One call of a server's tool: the questions that the server asks during the call, and its progress reports.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use rmcp::ServiceError;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResponse, ClientRequest, ServerResult,
};
use toolwright::{ErrorClass, ToolContext, ToolError};

use super::{Attempt, Line, Server};
use crate::client::http::is_session_unknown;
use crate::client::questions;
use crate::client::reports::Report;
use crate::sent_request::SentRequest;

/// How many times a server may ask for input during one call.
const MOST_ROUNDS: usize = questions::MOST;

/// The maximum time of a call whose server keeps reporting progress, as a multiple of the time-out.
const MOST_EXTENDED: u32 = 10;

impl Server {
    /// Makes the call. As long as the server asks for input, repeats it with the answers.
    pub(super) async fn rounds(
        &self,
        line: Line,
        mut request: CallToolRequestParams,
        patience: Option<Duration>,
        context: &ToolContext,
    ) -> Result<Attempt, ToolError> {
        let _asking = line.questions.begin();
        let mut asked_before = 0;
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
                if asked_before == questions::MOST {
                    return Err(self.asked_without_end());
                }
                asked_before += 1;
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
        Err(self.asked_without_end())
    }

    fn asked_without_end(&self) -> ToolError {
        let words = format!(
            "the MCP server `{}` asked {MOST_ROUNDS} times in the middle of one call, expected an end",
            self.name
        );
        ToolError::new("asked_without_end", words).class(ErrorClass::Unknown)
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
    let asked = SentRequest::send(&line.peer, request).await?;
    let mut reports = line.reports.of(asked.progress_token());
    let mut answer = pin!(asked.answer());
    let at_most = patience.map(|patience| patience.saturating_mul(MOST_EXTENDED));
    let mut at_most = pin!(sleep(at_most));
    let mut silence = pin!(sleep(patience));
    let answer = loop {
        tokio::select! {
            // Reports without a pause stop neither the answer nor the time limit.
            biased;
            after = &mut at_most => return Err(Failure::Silent(after)),
            answer = &mut answer => break answer,
            Some(progress) = reports.received.recv() => {
                report(context, &progress);
                silence.set(sleep(patience));
            }
            after = &mut silence => return Err(Failure::Silent(after)),
        }
    };
    while let Ok(progress) = reports.received.try_recv() {
        report(context, &progress);
    }
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

fn report(context: &ToolContext, report: &Report) {
    context.progress(&report.message, report.part);
}
