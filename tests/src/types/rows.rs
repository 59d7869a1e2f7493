//! What the schemas of ordinary tools look like, by the rows of the requirements.

use serde_json::{Value, json};
use toolwright::{Call, Handle, Output, Registry, data, tool};

use crate::support::{kind, strict};

fn schema(tool: Handle) -> Value {
    Registry::of([tool]).unwrap().get(tool.name()).unwrap().input_schema.clone()
}

/// Writes a file.
#[tool]
async fn write_file(
    /// Where to write.
    path: String,
    /// What to write.
    content: String,
) -> usize {
    path.len() + content.len()
}

/// S1.8: path and content are strings with descriptions, both required.
#[test]
fn a_path_and_a_content_are_two_described_strings_that_are_required() {
    assert_eq!(
        schema(WRITE_FILE),
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Where to write."},
                "content": {"type": "string", "description": "What to write."},
            },
            "required": ["path", "content"],
            "additionalProperties": false,
        })
    );
}

/// How a report is written.
#[data]
#[serde(rename_all = "snake_case")]
pub enum Style {
    Short,
    Long,
}

/// A version of the format.
#[data]
pub enum Version {
    /// The first, and so far the only one.
    #[serde(rename = "v1")]
    One,
}

/// A name or a number.
#[data]
#[serde(untagged)]
pub enum Reference {
    /// By name.
    Name(String),
    /// By number.
    Number(u8),
}

/// Who it is for.
#[data]
pub struct Reader {
    /// What they are called.
    name: String,
    /// How old they are.
    age: Option<u8>,
}

/// Writes a report.
#[expect(clippy::too_many_arguments, reason = "one parameter of each kind")]
#[tool(effect = read)]
async fn write_report(
    /// Its title.
    title: String,
    /// How many pages.
    pages: u8,
    /// How wide.
    width: f64,
    /// Whether to print it.
    print: bool,
    /// Words about it.
    tags: Vec<String>,
    /// How to write.
    style: Style,
    /// The format.
    version: Version,
    /// For whom.
    reader: Reader,
    /// What it is about.
    about: Reference,
    /// Who wrote it.
    author: Option<String>,
    /// In which language.
    #[arg(default = "en")]
    language: String,
    /// What follows each page, if anything does.
    breaks: Vec<Option<String>>,
) -> Output {
    let _ = (title, pages, width, print, tags, style, version, reader, about, author, language);
    Output::text(breaks.len().to_string())
}

/// S1.9: an object has its properties and its required keys.
/// S1.10: a string.
/// S1.11: a number, whole or not.
/// S1.12: true or false.
/// S1.13: a list has the schema of its items.
/// S1.14: an enum is its choices.
/// S1.15: what is optional is not required.
/// S1.16: a default is shown, and its parameter is not required.
/// S1.17: a union is its alternatives.
/// S1.18: a literal is one constant choice.
/// S2.12: types become JSON Schema: nested objects, nullable items, lists, enums, defaults.
/// S2.34: the schema of a nested type stands where the type is used, with its descriptions.
#[test]
fn each_kind_of_type_has_its_own_schema() {
    insta::assert_snapshot!(format!("{:#}", schema(WRITE_REPORT)));
}

/// S0.81: there is one definition: what reads the input also exports the schema, so that they agree.
#[tokio::test]
async fn the_type_that_is_shown_is_the_type_that_is_read() {
    let executor = strict([WRITE_REPORT]);
    let input = json!({
        "title": "Tides", "pages": 3, "width": 2.5, "print": true, "tags": [], "style": "short",
        "version": "v1", "reader": {"name": "Ada"}, "about": 7, "breaks": ["a", null],
    });
    let answer = executor.call(&Call::new("write_report", input.to_string())).await;
    assert_eq!(answer.text(), "2");
    for (pointer, wrong) in [
        ("/style", json!("brief")),
        ("/version", json!("v2")),
        ("/reader/age", json!(null)),
        ("/about", json!(2.5)),
        ("/pages", json!(256)),
    ] {
        let mut input = input.clone();
        match pointer.rsplit_once('/') {
            Some((holder, key)) => input.pointer_mut(holder).unwrap()[key] = wrong,
            None => unreachable!("each is a pointer"),
        }
        let answer = executor.call(&Call::new("write_report", input.to_string())).await;
        assert_eq!(kind(&answer), "invalid_input", "{pointer}");
    }
}

/// When a job runs.
#[data]
#[serde(rename_all = "snake_case")]
pub enum When {
    Once,
    Cron,
}

/// A time or times.
#[data]
pub struct Schedule {
    /// Whether it runs once or again and again.
    #[serde(rename = "type")]
    kind: When,
    /// A date, or an expression of cron.
    value: String,
}

/// Plans a job.
#[tool]
async fn plan_job(
    /// What to run.
    command: String,
    /// When to run it.
    schedule: Schedule,
) -> String {
    let _ = schedule.kind;
    format!("{command} {}", schedule.value)
}

/// S3.13: fields are described at every depth; an object in it has a choice and a value.
#[test]
fn fields_are_described_at_every_depth() {
    assert_eq!(
        schema(PLAN_JOB)["properties"]["schedule"],
        json!({
            "type": "object",
            "description": "When to run it.",
            "properties": {
                "type": {
                    "type": "string",
                    "enum": ["once", "cron"],
                    "description": "Whether it runs once or again and again.",
                },
                "value": {"type": "string", "description": "A date, or an expression of cron."},
            },
            "required": ["type", "value"],
            "additionalProperties": false,
        })
    );
}
