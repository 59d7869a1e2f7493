//! `context_pipe` stores the answer of another tool without showing it.
//!
//! # What it does
//! It calls the tool that the input names, through the whole executor: with its own danger, its own approval and its own
//! record. The tool's output becomes an entry, split and indexed as by `context_write`; the answer has the path, the size and
//! the first characters. If the inner call fails, nothing is stored.
//!
//! # What it may touch
//! It writes the entry that `path` names. The inner call touches what its own footprint declares.
//!
//! # What it refuses
//! It refuses, in this order and before any tool runs:
//! - a path that has an entry, unless `on_conflict` is `overwrite`;
//! - a tool that does not exist;
//! - a tool that ends a run, a tool that only programs of the application may call, and a pipe;
//! - a tool with secret parameters, whose values would be in the record of the pipe;
//! - input that does not match the inner tool.

use serde_json::{Map, Value, json};
use toolwright::{
    Call, CallableTool, Calls, Danger, ErrorClass, NestedCalls, Output, ToolContext, ToolError,
    tool, untrusted,
};

use super::marked::mark_value;
use super::path::LogicalPath;
use super::store::{Before, ContextStore, NewText, OnConflict, StoredEntry};
use crate::blocking::blocking;

/// How many characters of the stored text the answer shows.
const PREVIEW: usize = 200;

/// The most characters of the inner call's error.
const LONGEST_ERROR: usize = 2000;

/// What was stored.
#[toolwright::data]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PipedEntry {
    /// The logical path.
    pub path: String,
    /// The number of the version, counted from 1.
    pub version: u32,
    /// The size of the text in bytes.
    pub bytes_written: usize,
    /// The beginning of the text.
    pub preview: String,
    /// Why parts of the store have no vectors yet, if an embedding model is to make them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_embedded: Option<String>,
}

/// Call another tool and store its whole output under a logical path, where it can be searched and queried. Only the path, the size
/// and the first 200 characters are returned.
#[tool(
    unlinked,
    group = "context",
    danger = danger(on_conflict),
    effect = keyed,
    timeout = none,
    writes(LogicalPath = path, NestedCalls = None::<&str>)
)]
pub async fn context_pipe(
    store: &ContextStore,
    calls: &Calls,
    context: &ToolContext,
    /// The tool whose output is stored.
    #[arg(positional)]
    tool_name: String,
    /// The input of that tool.
    tool_input: Map<String, Value>,
    /// Logical path, such as `data/issues.json`.
    #[arg(example = "data/issues.json", positional)]
    path: String,
    /// What to do when the path exists.
    #[arg(default)]
    on_conflict: OnConflict,
) -> Result<Output, ToolError> {
    let path = LogicalPath::parse(&path)?;
    let note = format!("the output of `{tool_name}`, by call {}", context.idempotency_key());
    if let Some(stored) = before(store, &path, on_conflict, &note).await? {
        return stored.into_output();
    }
    may_be_piped(&calls.find(&tool_name).await?)?;
    let call = Call::new(&*tool_name, Value::Object(tool_input).to_string());
    calls.check(&call)?;
    let answer = calls.call(&call).await;
    if let Some(error) = answer.error() {
        return Err(inner_error(&tool_name, error, answer.untrusted_source().as_deref()));
    }
    let sources = answer.untrusted_sources();
    let source = (!sources.is_empty()).then(|| sources.join("\n"));
    let (writer, content) = (store.clone(), answer.into_text());
    let written = blocking(move || {
        let before = match on_conflict {
            OnConflict::Error => Before::Missing,
            OnConflict::Overwrite => Before::Any,
        };
        // The store fences the text again whenever a tool reads it, so remove the fence here.
        let content = if source.is_some() { within_fence(&content) } else { &content };
        let text =
            NewText { content, note: Some(&note), source: None, untrusted: source.as_deref() };
        let stored =
            writer.put_noted(&path, before, &text).map_err(|error| lost(&tool_name, error))?;
        Ok::<_, ToolError>(PipedAnswer { entry: piped(stored, content), source })
    });
    let mut piped = written.await??;
    piped.entry.not_embedded = store.embed_in_time().await;
    piped.into_output()
}

/// Removes the fence around an untrusted text, if the fence encloses the whole answer.
fn within_fence(answer: &str) -> &str {
    let inner = || {
        let (opening, rest) = answer.strip_prefix("<untrusted ")?.split_once('\n')?;
        let (mark, _) = opening.split_once(" from ")?;
        let text = rest.strip_suffix('>')?.strip_suffix(mark)?.strip_suffix("\n</untrusted ")?;
        (!mark.is_empty() && !text.contains(mark)).then_some(text)
    };
    inner().unwrap_or(answer)
}

/// The stored entry, and the source of its text if the text is untrusted.
struct PipedAnswer {
    entry: PipedEntry,
    source: Option<String>,
}

impl PipedAnswer {
    fn into_output(self) -> Result<Output, ToolError> {
        mark_value(&self.entry, self.source.as_deref())
    }
}

/// Returns the danger of the pipe's own write. The inner call is rated separately.
fn danger(on_conflict: OnConflict) -> Danger {
    match on_conflict {
        OnConflict::Error => Danger::Safe,
        OnConflict::Overwrite => Danger::Moderate,
    }
}

/// Refuses a path that has an entry, unless the entry may be overwritten. If the pipe is repeated because its process
/// was interrupted after it wrote the entry, returns the written entry, even if another call has written a later
/// version since.
async fn before(
    store: &ContextStore,
    path: &LogicalPath,
    on_conflict: OnConflict,
    note: &str,
) -> Result<Option<PipedAnswer>, ToolError> {
    let (store, path, note) = (store.clone(), path.clone(), note.to_owned());
    let looked = blocking(move || match store.read_noted(&path, &note)? {
        Some(entry) => {
            let (version, bytes_written) = (entry.version, entry.content.len());
            let (path, hash) = (path.to_string(), entry.hash);
            let stored = StoredEntry { path, version, bytes_written, hash, not_embedded: None };
            let (entry, source) = (piped(stored, &entry.content), entry.untrusted);
            Ok(Some(PipedAnswer { entry, source }))
        }
        None if on_conflict == OnConflict::Error && store.has(&path)? => Err(store.conflict(&path)),
        None => Ok(None),
    });
    looked.await?
}

fn may_be_piped(tool: &CallableTool) -> Result<(), ToolError> {
    let name = tool.name();
    let problem = if tool.is_terminal() {
        format!("`{name}` ends the run")
    } else if tool.is_hidden() {
        format!("`{name}` is for programs of the application alone")
    } else if tool.is(super::CONTEXT_PIPE) {
        format!("`{name}` is a pipe itself")
    } else if let [secret, ..] = tool.secrets() {
        format!("`{name}` takes a secret, `{secret}`, which the record of a pipe would show")
    } else {
        return Ok(());
    };
    Err(ToolError::new("forbidden_tool", format!("{problem}, so it is not piped"))
        .class(ErrorClass::Invalid)
        .hint(format!("call `{name}` itself, or pipe another tool")))
}

/// Makes the error that the model gets if the inner call failed and nothing was stored.
fn inner_error(tool: &str, error: &ToolError, source: Option<&str>) -> ToolError {
    let failed = format!("`{tool}` failed, so nothing was stored: ");
    let message = match source {
        // Cutting may have removed the end of the inner error's fence, so fence the error again.
        Some(source) => {
            format!("{failed}\n{}", untrusted::fenced(source, &cut(error.message().to_owned())))
        }
        None => cut(format!("{failed}{}", error.message())),
    };
    let inner = ToolError::new("inner_tool_error", message)
        .details(json!({"inner_error_type": error.kind()}));
    let inner = source.into_iter().fold(inner, |inner, source| inner.untrusted(source));
    error.next_action().into_iter().fold(inner, |inner, hint| inner.hint(cut(hint.to_owned())))
}

/// Makes the error for a write that failed after the inner tool had run: another call has taken the path, or the store
/// failed.
fn lost(tool: &str, error: ToolError) -> ToolError {
    error.with_more(Some(format!(" (`{tool}` has run; its output was not stored)")))
}

fn piped(stored: StoredEntry, content: &str) -> PipedEntry {
    let StoredEntry { path, version, bytes_written, .. } = stored;
    let preview = content.chars().take(PREVIEW).collect();
    PipedEntry { path, version, bytes_written, preview, not_embedded: None }
}

/// Cuts a text to 2,000 characters, and marks the cut with `…`.
fn cut(text: String) -> String {
    if text.chars().count() <= LONGEST_ERROR {
        return text;
    }
    text.chars().take(LONGEST_ERROR - 1).chain(['…']).collect()
}
