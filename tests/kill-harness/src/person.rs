//! Plays the person who decides on calls, in the process itself or later through the journal. The arguments of each
//! call say how the person decides. The person resolves an indeterminate call only when they know what happened.

use std::sync::Arc;

use futures::future::{BoxFuture, ready};
use jiff::Timestamp;
use serde::Deserialize;
use toolwright::approval::{
    ApprovalError, ApprovalRequest, ApprovalService, Approver, ApproverError, ApproverKey, Clause,
    GrantTerms, KeyError, Reply, Response, Scope, Statement,
};
use toolwright::journal::{CallRecord, Filter, Page, State, Store};

use crate::marks::Outside;
use crate::script::{Manner, RAISED, Said};
use crate::tools::result;

/// The arguments of every tool.
#[derive(Debug, Clone, Deserialize)]
pub struct Arguments {
    /// The token of the call.
    pub token: String,
    /// How the tool behaves.
    pub manner: Manner,
    /// What the person decides.
    pub said: Said,
    /// An argument that the person may change.
    pub amount: u32,
}

impl Arguments {
    /// Parses the arguments in a record or a request.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// Returns the key of the person, which is the same in every process.
///
/// # Errors
/// When the key cannot be made.
pub fn key() -> Result<ApproverKey, KeyError> {
    ApproverKey::from_seed("ada", [7; 32])
}

/// The person, when the process itself asks them.
pub struct Person;

impl Approver for Person {
    fn ask<'a>(
        &'a self,
        request: &'a ApprovalRequest,
    ) -> BoxFuture<'a, Result<Reply, ApproverError>> {
        Box::pin(ready(Ok(match Arguments::of(&request.arguments) {
            None => Reply::Noted,
            Some(it) => match it.said {
                Said::Nothing | Said::Approve => Reply::Decided(Response::Approve),
                // The person has edited the call already, and approves it now.
                Said::Edit if it.amount > RAISED => Reply::Decided(Response::Approve),
                Said::Edit => Reply::Decided(Response::Edit(raised(&request.arguments, it.amount))),
                Said::Reject => Reply::Decided(Response::Reject { reason: None }),
                Said::Grant | Said::Ignore => Reply::Noted,
            },
        })))
    }
}

fn raised(arguments: &str, amount: u32) -> String {
    let mut all: serde_json::Value = serde_json::from_str(arguments).unwrap_or_default();
    all["amount"] = (amount + RAISED).into();
    all.to_string()
}

/// Decides about pending calls.
///
/// # Errors
/// When the journal fails.
pub async fn decide(store: &Arc<dyn Store>) -> anyhow::Result<()> {
    for record in listed(store, State::Pending).await? {
        let now = Timestamp::now();
        let statement = match Arguments::of(&record.shown).map(|it| it.said) {
            Some(Said::Ignore) | None => continue,
            Some(Said::Reject) => Statement::reject(&record, None, "ada", now),
            Some(Said::Grant) => Statement::approve_with_grant(&record, terms(&record), "ada", now),
            Some(Said::Nothing | Said::Approve | Said::Edit) => {
                Statement::approve(&record, "ada", now)
            }
        };
        say(store, &statement, now).await?;
    }
    Ok(())
}

/// Resolves indeterminate calls; `share` says which.
///
/// # Errors
/// When journal or marks fail.
pub async fn find_out(
    store: &Arc<dyn Store>,
    outside: &Outside,
    share: impl Fn(&str) -> bool,
) -> anyhow::Result<usize> {
    let mut found = 0;
    for record in listed(store, State::Indeterminate).await? {
        let Some(it) = Arguments::of(&record.shown).filter(|it| share(&it.token)) else { continue };
        let now = Timestamp::now();
        let statement = match outside.has_acted(&it.token)? {
            None => continue,
            Some(true) => Statement::happened(&record, result(&it.token, it.amount), "ada", now),
            Some(false) => Statement::did_not_happen(&record, "ada", now),
        };
        say(store, &statement, now).await?;
        found += 1;
    }
    Ok(found)
}

async fn say(store: &Arc<dyn Store>, statement: &Statement, now: Timestamp) -> anyhow::Result<()> {
    let signed = key()?.sign(statement)?;
    match ApprovalService::new(Arc::clone(store)).submit(signed, now).await {
        Err(error @ ApprovalError::Store(_)) => Err(error.into()),
        // Another decision came first, and counts.
        _ => Ok(()),
    }
}

fn terms(record: &CallRecord) -> GrantTerms {
    GrantTerms {
        scope: Scope::Session("shop".to_owned()),
        tool: record.tool.clone(),
        fingerprint: record.fingerprint.clone(),
        arguments: vec![Clause {
            pointer: "/said".to_owned(),
            is_one_of: vec!["\"grant\"".to_owned()],
        }],
        until: None,
        uses: Some(3),
    }
}

async fn listed(store: &Arc<dyn Store>, state: State) -> anyhow::Result<Vec<CallRecord>> {
    let filter = Filter { states: vec![state], ..Filter::default() };
    Ok(store.list(&filter, Page::first(1000)).await?.calls)
}
