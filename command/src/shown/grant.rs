//! A grant, for people and programs.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use toolwright::approval::{Grant, GrantError, GrantTerms, Scope};

use super::{json, when};

/// A grant as JSON, for programs. All keys are always present.
#[derive(Serialize)]
pub(crate) struct GrantRow<'a> {
    id: &'a str,
    tool: String,
    fingerprint: String,
    scope: String,
    arguments: Vec<Where>,
    until: Option<Timestamp>,
    uses: Option<u32>,
    used: u32,
    by: Option<String>,
    granted: Timestamp,
    revoked: Option<RevokedRow>,
}

#[derive(Serialize)]
struct Where {
    pointer: String,
    is_one_of: Vec<Box<RawValue>>,
}

#[derive(Serialize)]
struct RevokedRow {
    by: String,
    at: Timestamp,
}

impl<'a> GrantRow<'a> {
    pub(crate) fn of(grant: &'a Grant) -> Result<Self, GrantError> {
        let GrantTerms { scope, tool, fingerprint, arguments, until, uses } = grant.terms()?;
        let arguments = arguments.into_iter().map(|clause| Where {
            is_one_of: clause.is_one_of.iter().map(|value| json::raw(value)).collect(),
            pointer: clause.pointer,
        });
        let revoked = grant.revoked.as_ref().and_then(|signed| signed.statement().ok());
        Ok(Self {
            id: &grant.id,
            tool,
            fingerprint,
            scope: scope_words(&scope),
            arguments: arguments.collect(),
            until,
            uses,
            used: grant.used,
            by: grant.signed.statement().ok().map(|statement| statement.by),
            granted: grant.granted,
            revoked: revoked.map(|statement| RevokedRow { by: statement.by, at: statement.at }),
        })
    }

    /// Returns the cells of the grant's row: id, tool, scope, uses, end, approver, and the clauses about arguments.
    pub(crate) fn cells(&self, now: Timestamp) -> [String; 7] {
        let uses = match self.uses {
            Some(uses) => format!("{} of {uses}", self.used),
            None => self.used.to_string(),
        };
        let until = match (&self.revoked, self.until) {
            (Some(revoked), _) => format!("revoked by {}", revoked.by),
            (None, Some(until)) if until <= now => "over".to_owned(),
            (None, Some(until)) => when::away(until, now),
            (None, None) => "no end".to_owned(),
        };
        let clauses = self.arguments.iter().map(|clause| {
            let values: Vec<&str> = clause.is_one_of.iter().map(|value| value.get()).collect();
            let place = if clause.pointer.is_empty() { "all" } else { &clause.pointer };
            format!("{place}={}", values.join(","))
        });
        let clauses: Vec<String> = clauses.collect();
        let clauses = if clauses.is_empty() { "none".to_owned() } else { clauses.join(" ") };
        let by = self.by.clone().unwrap_or_else(|| "unknown".to_owned());
        [self.id.to_owned(), self.tool.clone(), self.scope.clone(), uses, until, by, clauses]
    }
}

/// Formats a scope for people and programs, such as `session:ID`. A scope of one run has the id of the run.
pub(crate) fn scope_words(scope: &Scope) -> String {
    match scope {
        Scope::Run(run) => format!("run:{run}"),
        Scope::Session(session) => format!("session:{session}"),
        Scope::Project(project) => format!("project:{project}"),
        Scope::Forever => "forever".to_owned(),
    }
}
