//! The board's data as models read it: indented JSON.

use serde::Serialize;
use toolwright::{Output, ToolError};

use crate::ticket::{Author, Comment, CommentKind, Criterion, DocumentKind, DocumentStatus};

/// A comment, as a model reads it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShownComment {
    id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<i64>,
    author: String,
    author_type: Author,
    #[serde(rename = "type")]
    kind: CommentKind,
    content: String,
    resolved: bool,
    created_at: String,
}

impl From<Comment> for ShownComment {
    fn from(it: Comment) -> Self {
        Self {
            id: it.id,
            thread: it.parent,
            author: it.author_name,
            author_type: it.author,
            kind: it.kind,
            content: it.content,
            resolved: it.resolved,
            created_at: it.created_at.to_string(),
        }
    }
}

/// A criterion, as a model reads it.
#[derive(Serialize)]
pub(super) struct ShownCriterion {
    id: i64,
    text: String,
    /// How the criterion is checked.
    evidence: String,
    met: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    finding: Option<String>,
}

impl ShownCriterion {
    /// Makes the criterion, and compares its finding with the present files of the worktree, whose git tree is `tree`.
    pub(super) fn of(it: Criterion, tree: &str) -> Self {
        let met = it.counts_for(tree);
        let finding = match it.met && !met {
            true => Some("the files were changed since it was checked".to_owned()),
            false => it.finding,
        };
        Self { id: it.id, text: it.text, evidence: it.evidence.to_string(), met, finding }
    }
}

/// A document, as a model reads it.
#[derive(Serialize)]
pub(super) struct ShownDocument {
    #[serde(rename = "type")]
    pub kind: DocumentKind,
    pub status: DocumentStatus,
}

/// Returns indented JSON for the model, and the value for programs.
pub(super) fn pretty(value: &impl Serialize) -> Result<Output, ToolError> {
    let text = serde_json::to_string_pretty(value).map_err(ToolError::internal)?;
    let value = serde_json::to_value(value).map_err(ToolError::internal)?;
    Ok(Output::text(text).structured(value))
}
