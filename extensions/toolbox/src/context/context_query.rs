//! `context_query` evaluates an expression over a stored JSON document, and answers only with the result.
//!
//! # What it does
//! It answers with the result, its type and its size, or writes it as another entry, which can be queried in turn. A whole
//! number above 2^53 in the document becomes a text of its digits. For `?` or an empty expression it answers with a
//! reference of the language and reads nothing.
//!
//! # What it may touch
//! It reads the entry that `path` names, and writes the entry that `output_path` names. An expression reaches no file,
//! network, clock or host.
//!
//! # What it refuses
//! - A path without an entry, and the handle of a paged result.
//! - A text that is not a whole JSON document, or is larger than 20 million bytes.
//! - A malformed expression; the error includes the reference.
//! - An expression that takes too many steps, or too much time, depth or space.
//! - An `output_path` that has an entry, unless `on_conflict` is `overwrite`.

use std::time::UNIX_EPOCH;

use jlens_core::CancelToken;
use serde_json::Value;
use toolwright::{Danger, ErrorClass, Output, ToolContext, ToolError, tool};

use super::marked::mark_value;
use super::path::LogicalPath;
use super::query::{REFERENCE, evaluate, limits};
use super::store::{Before, ContextEntry, ContextStore, NewText, OnConflict};
use crate::blocking::blocking;

/// The largest document that can be queried, in bytes.
const LARGEST_SOURCE: usize = 20_000_000;

/// How many characters of a written result the answer shows.
const PREVIEW: usize = 200;

/// What came of a query.
#[toolwright::data]
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct QueryAnswer {
    /// The result, where it is not written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// `array`, `object`, `string`, `number`, `boolean` or `null`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_type: Option<String>,
    /// How many items an array has, or an object fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_count: Option<usize>,
    /// Where the result was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The version that was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// The size of what was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_written: Option<usize>,
    /// The beginning of what was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// The reference of the language, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Run a JSONata expression over a stored JSON document and return only the result, such as `$count($)`,
/// `$[amount > 100].id` or `${ kind: $sum(amount) }`. The expression `?` returns the reference of the language.
#[tool(
    unlinked,
    group = "context",
    danger = danger(output_path.as_deref()),
    effect = idempotent,
    reads(LogicalPath = path),
    writes(LogicalPath = output_path.clone().into_iter().collect::<Vec<_>>())
)]
pub async fn context_query(
    store: &ContextStore,
    context: &ToolContext,
    /// Logical path of a whole JSON document.
    #[arg(example = "data/orders.json", positional)]
    path: String,
    /// The expression; `$` is the document.
    #[arg(example = "$[amount > 100].id", positional)]
    expression: String,
    /// Where to write the result instead of returning it.
    output_path: Option<String>,
    /// What to do when the path to write exists.
    #[arg(default)]
    on_conflict: OnConflict,
) -> Result<Output, ToolError> {
    let expression = expression.trim();
    if matches!(expression, "" | "?") {
        let reference = Some(REFERENCE.to_owned());
        let answer = QueryAnswer { message: reference, ..QueryAnswer::default() };
        return mark_value(&answer, []);
    }
    let path_to_write = output_path.as_deref().map(LogicalPath::parse).transpose()?;
    let target = path_to_write.map(|path| Target {
        path,
        on_conflict,
        note: format!("the result of a query, by call {}", context.idempotency_key()),
    });
    let now = context.now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let now = i64::try_from(now).unwrap_or(i64::MAX);
    let (store, expression) = (store.clone(), expression.to_owned());
    let cancel = CancelOnDrop(CancelToken::new());
    let token = cancel.0.clone();
    let answered = blocking(move || {
        if let Some(target) = &target
            && let Some(written) = target.written(&store)?
        {
            return mark_value(&written.0, written.1.as_deref());
        }
        let ContextEntry { content, untrusted, .. } = source(&store, &path)?;
        let untrusted = untrusted.as_deref();
        let result = evaluate(&expression, &content, &limits(now, token)).map_err(|error| {
            // The error may contain a value from the untrusted document.
            untrusted.into_iter().fold(error, |error, source| error.untrusted(source))
        })?;
        let answer = answer(&store, result, target.as_ref(), untrusted)?;
        mark_value(&answer, untrusted)
    });
    answered.await?
}

/// Returns the danger of a query. A query that writes nothing is safe, because it only reads.
fn danger(output_path: Option<&str>) -> Danger {
    if output_path.is_none() { Danger::Safe } else { Danger::Moderate }
}

/// The entry to which a result is written.
struct Target {
    path: LogicalPath,
    on_conflict: OnConflict,
    /// The note that identifies the call.
    note: String,
}

impl Target {
    /// Returns the answer of this call and the source of its text, if the call is repeated because its process was
    /// interrupted after it had written the result. Without this, it would be refused because of its own entry.
    fn written(
        &self,
        store: &ContextStore,
    ) -> Result<Option<(QueryAnswer, Option<String>)>, ToolError> {
        if self.on_conflict == OnConflict::Overwrite {
            return Ok(None);
        }
        let Some(entry) = store.read_noted(&self.path, &self.note)? else { return Ok(None) };
        let result = serde_json::from_str(&entry.content).map_err(ToolError::internal)?;
        let (version, bytes) = (entry.version, entry.content.len());
        let answer = QueryAnswer {
            path: Some(self.path.to_string()),
            version: Some(version),
            bytes_written: Some(bytes),
            preview: Some(entry.content.chars().take(PREVIEW).collect()),
            ..described(&result)
        };
        Ok(Some((answer, entry.untrusted)))
    }
}

/// Cancels an evaluation when the future of its call is dropped.
struct CancelOnDrop(CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Reads the document at a path.
fn source(store: &ContextStore, path: &str) -> Result<ContextEntry, ToolError> {
    let is_handle = path
        .strip_prefix("lr_")
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|it| it.is_ascii_digit()));
    if is_handle {
        let message = format!("`{path}` is the handle of a paged result, expected a logical path");
        return Err(ToolError::new("source_not_found", message)
            .class(ErrorClass::Invalid)
            .hint("a page is not a whole document: store the whole result, and query that"));
    }
    let entry = store.read(path, None).map_err(|error| match error.kind() {
        "not_found" => ToolError::new("source_not_found", error.message().to_owned())
            .class(ErrorClass::Invalid)
            .hint("list or search the entries to find its path"),
        _ => error,
    })?;
    let bytes = entry.content.len();
    if bytes > LARGEST_SOURCE {
        let message = format!("`{path}` has {bytes} bytes, expected at most {LARGEST_SOURCE}");
        return Err(ToolError::new("source_too_large", message)
            .class(ErrorClass::Invalid)
            .hint("store a smaller part of it"));
    }
    Ok(entry)
}

/// Returns an answer with the type and the size of a result.
fn described(result: &Value) -> QueryAnswer {
    let (kind, count) = match result {
        Value::Null => ("null", None),
        Value::Bool(_) => ("boolean", None),
        Value::Number(_) => ("number", None),
        Value::String(_) => ("string", None),
        Value::Array(items) => ("array", Some(items.len())),
        Value::Object(fields) => ("object", Some(fields.len())),
    };
    QueryAnswer {
        result_type: Some(kind.to_owned()),
        result_count: count,
        ..QueryAnswer::default()
    }
}

fn answer(
    store: &ContextStore,
    result: Value,
    target: Option<&Target>,
    untrusted: Option<&str>,
) -> Result<QueryAnswer, ToolError> {
    let described = described(&result);
    let Some(target) = target else {
        return Ok(QueryAnswer { result: Some(result), ..described });
    };
    let (before, note) = match target.on_conflict {
        OnConflict::Error => (Before::Missing, Some(&*target.note)),
        OnConflict::Overwrite => (Before::Any, None),
    };
    let content = result.to_string();
    let text = NewText { content: &content, note, source: None, untrusted };
    let stored = store.put(&target.path, before, &text)?;
    Ok(QueryAnswer {
        path: Some(stored.path),
        version: Some(stored.version),
        bytes_written: Some(stored.bytes_written),
        preview: Some(content.chars().take(PREVIEW).collect()),
        ..described
    })
}
