//! Compares an answer with the answers that the OpenAPI document promises.
//!
//! A schema is compiled when it is first needed, because most operations of a large document are never called.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::StatusCode;
use serde_json::{Value, json};
use toolwright::unstable::foreign::{Checker, TypeNames, input_schema};

use super::Response;
use crate::document::{Document, LocatedValue};
use crate::schema::{Direction, Schemas};

/// The maximum number of differences that are listed for one answer.
const MOST: usize = 10;

/// The answers that the document promises for an operation.
#[derive(Debug)]
pub(crate) struct Answers {
    document: Arc<Document>,
    /// The location of the operation's `responses` in the document.
    responses: Option<String>,
    checkers: Mutex<BTreeMap<String, Option<Arc<PreparedChecker>>>>,
}

struct PreparedChecker(Checker);

impl std::fmt::Debug for PreparedChecker {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Prepared")
    }
}

impl Answers {
    pub(crate) fn new(document: Arc<Document>, responses: Option<String>) -> Self {
        Self { document, responses, checkers: Mutex::default() }
    }

    /// Returns the differences between an answer and the answers that the document promises. Returns none if the
    /// document does not describe the answers of the operation.
    pub(super) fn problems(
        &self,
        status: StatusCode,
        response: &Response,
        value: Option<&Value>,
    ) -> Vec<String> {
        let Some(responses) = self.locate(self.responses.as_deref()) else { return Vec::new() };
        let Some(promised) = of_status(&responses, status) else {
            return vec![format!("the status {} is not in the document", status.as_u16())];
        };
        let Ok(promised) = self.document.follow(promised) else { return Vec::new() };
        let content = promised.get("content").map(|it| it.entries()).unwrap_or_default();
        if content.is_empty() || response.body.is_empty() {
            return Vec::new();
        }
        let media_type = response.media_type();
        let Some((_, media)) = content.iter().find(|(kind, _)| matches(kind, &media_type)) else {
            let kinds: Vec<&str> = content.iter().map(|(kind, _)| *kind).collect();
            return vec![format!("it is of `{media_type}`, expected `{}`", kinds.join("`, `"))];
        };
        let is_json = media_type.ends_with("/json") || media_type.ends_with("+json");
        match (value, media.get("schema")) {
            (None, _) if is_json => vec!["it is not the JSON that it says it is".to_owned()],
            (Some(value), Some(schema)) => self.differences(&schema, value),
            _ => Vec::new(),
        }
    }

    fn locate(&self, place: Option<&str>) -> Option<LocatedValue<'_>> {
        let place = place?;
        Some(LocatedValue { value: self.document.root.pointer(place)?, place: place.to_owned() })
    }

    fn differences(&self, schema: &LocatedValue<'_>, value: &Value) -> Vec<String> {
        let Some(checker) = self.checker(schema) else { return Vec::new() };
        let text = json!({"answer": value}).to_string();
        let problems = checker.0.check_text(&text).err().unwrap_or_default();
        let shown = problems.into_iter().take(MOST).map(|problem| {
            let place =
                problem.pointer.strip_prefix("/answer").unwrap_or(&problem.pointer).to_owned();
            format!("{place}: found {}, expected {}", problem.found, problem.expected)
        });
        shown.collect()
    }

    /// Returns the compiled schema; `None` if the schema itself is invalid, because then no answer can be compared with
    /// it.
    fn checker(&self, schema: &LocatedValue<'_>) -> Option<Arc<PreparedChecker>> {
        let mut checkers = self.checkers.lock().unwrap_or_else(PoisonError::into_inner);
        let prepared = || prepare(&self.document, schema).map(|it| Arc::new(PreparedChecker(it)));
        checkers.entry(schema.place.clone()).or_insert_with(prepared).clone()
    }
}

/// Compiles the schema as a property of an object, because only object schemas have a normal form.
fn prepare(document: &Document, schema: &LocatedValue<'_>) -> Option<Checker> {
    let mut schemas = Schemas::new(document, Direction::Answer);
    let copied = schemas.copy(schema).ok()?;
    let definitions = schemas.definitions().ok()?;
    let whole = json!({"type": "object", "properties": {"answer": copied}, "$defs": definitions});
    let normal = input_schema(&whole, TypeNames::Foreign);
    Checker::new(&normal.ok()?.schema).ok()
}

/// Returns the promised answer for a status: an entry for exactly this status, for its class such as `2XX`, or the
/// default.
fn of_status<'d>(responses: &LocatedValue<'d>, status: StatusCode) -> Option<LocatedValue<'d>> {
    let code = status.as_u16();
    let hundred = format!("{}XX", code / 100);
    let exact = responses.get(&code.to_string()).or_else(|| responses.get(&hundred));
    let small = || responses.get(&hundred.to_lowercase());
    exact.or_else(small).or_else(|| responses.get("default"))
}

/// Returns whether a media type of the document, which may contain wildcards, matches the media type of an answer.
fn matches(written: &str, found: &str) -> bool {
    let written = written.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match written.split_once('/') {
        Some(("*", "*")) => true,
        Some((kind, "*")) => found.split_once('/').is_some_and(|(it, _)| it == kind),
        _ => written == found,
    }
}
