//! The person who decides: at once where the application asks them, or later at a desk, in the way that is written in
//! the call itself. They say what became of a call only when they know.

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

/// The arguments of every tool here.
#[derive(Debug, Clone, Deserialize)]
pub struct Arguments {
    /// What the outside world calls it.
    pub token: String,
    /// How it goes.
    pub manner: Manner,
    /// What a person says.
    pub said: Said,
    /// How much.
    pub amount: u32,
}

impl Arguments {
    /// As they stand in a record or a request.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// The key of the person, the same in every process.
///
/// # Errors
/// When there can be no such key.
pub fn key() -> Result<ApproverKey, KeyError> {
    ApproverKey::from_seed("ada", [7; 32])
}

/// The person as they are asked in the process.
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
                // An edit that was made is not made again.
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

/// Decides what waits for a decision.
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

/// Says what became of calls of which the journal does not know it; `share` says of which.
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
        // Somebody or something else was faster, and it is as they say.
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
