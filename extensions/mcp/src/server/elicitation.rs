//! Approval by elicitation: the client's user decides about the calls of the session, if the application trusts that
//! the client has a user.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use serde_json::json;
use toolwright::approval::{ApprovalRequest, Approver, ApproverError, Reply, Response};
use toolwright::{Danger, Executor};

use super::client::{ConnectedClient, ElicitationOutcome};
use crate::client::untrusted::escaped;

/// An approver that asks the user of a client whether a call of this client may run.
///
/// Nothing proves that a person answers: a client can approve by itself. An application that gives this approver to an
/// executor trusts that every client of the server has a user who decides. The decisions are signed with the key that
/// is registered with the approver. Name the key after the clients, so that the journal shows who decided.
///
/// The approver does not ask the user, and leaves the call to another approver, if the call is `critical`, if the
/// policy has `four_eyes`, if the call belongs to no session, or if the client cannot ask. It also leaves the call to
/// another approver if the user closes the question without an answer.
///
/// ```
/// use toolwright::approval::ApproverKey;
/// use toolwright::journal::MemoryStore;
/// use toolwright::{Executor, Registry};
/// use toolwright_mcp::{ElicitationApprover, McpServer};
///
/// let approver = ElicitationApprover::default();
/// let executor = Executor::builder(Registry::empty())
///     .journal(MemoryStore::new())
///     .approver(ApproverKey::generate("user of an MCP client")?, approver.clone())
///     .build()?;
/// let server = McpServer::new(executor).approve_by(&approver);
/// # let _ = server;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct ElicitationApprover(Arc<Mutex<HashMap<String, RunClient>>>);

/// The client of a run, and the executor whose policy applies to the run.
#[derive(Clone)]
struct RunClient {
    client: ConnectedClient,
    executor: Executor,
}

/// Registers the client of a run with the approver until the session drops this value.
pub(super) struct EnteredRun {
    approver: ElicitationApprover,
    run: String,
}

impl ElicitationApprover {
    pub(super) fn enter(
        &self,
        run: &str,
        client: &ConnectedClient,
        executor: &Executor,
    ) -> EnteredRun {
        let asked = RunClient { client: client.clone(), executor: executor.clone() };
        self.lock().insert(run.to_owned(), asked);
        EnteredRun { approver: self.clone(), run: run.to_owned() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, RunClient>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Approver for ElicitationApprover {
    fn ask<'a>(
        &'a self,
        request: &'a ApprovalRequest,
    ) -> BoxFuture<'a, Result<Reply, ApproverError>> {
        Box::pin(async move {
            let asked = self.lock().get(&request.run).cloned();
            let Some(RunClient { client, executor }) = asked else { return Ok(Reply::Noted) };
            let is_for_another =
                request.danger == Danger::Critical || executor.policy().four_eyes();
            if is_for_another || !client.can_elicit() {
                return Ok(Reply::Noted);
            }
            let schema = json!({
                "type": "object",
                "properties": {"approve": {"type": "boolean", "title": "Let the call run", "default": false}},
                "required": ["approve"],
            });
            let answer = client.elicit(&question(request), schema).await;
            let answer = answer.map_err(|error| {
                let words = error.message();
                ApproverError::new(format!("the user of the client could not be asked: {words}"))
            })?;
            Ok(match answer {
                ElicitationOutcome::Accepted(answer) if answer["approve"] == true => {
                    Reply::Decided(Response::Approve)
                }
                ElicitationOutcome::Accepted(_) | ElicitationOutcome::Declined => {
                    let reason = Some("the user of the client refused it".to_owned());
                    Reply::Decided(Response::Reject { reason })
                }
                ElicitationOutcome::Cancelled => Reply::Noted,
            })
        })
    }
}

impl fmt::Debug for ElicitationApprover {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("ElicitationApprover").field(&self.lock().len()).finish()
    }
}

impl Drop for EnteredRun {
    fn drop(&mut self) {
        self.approver.lock().remove(&self.run);
    }
}

/// Returns the question that the user sees. A model wrote the arguments, so control characters in them are escaped.
fn question(request: &ApprovalRequest) -> String {
    let tool = request.title.as_deref().unwrap_or(&request.tool);
    let shown = request.preview.as_deref().unwrap_or(&request.arguments);
    let (tool, reason, shown) = (escaped(tool), escaped(&request.reason), escaped(shown));
    format!("May `{tool}` run ({}, {reason})?\n{shown}", request.danger.as_str())
}
