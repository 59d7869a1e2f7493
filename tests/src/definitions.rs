//! A definition says all that a model, a command line and policy must know, in one place.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolwright::{
    Call, Definition, Effect, Exposure, Parameter, Registry, Repair, Requirement, Retry, Timeout,
    ToolError, data, tool,
};

use crate::support::{Log, executor};

/// A note that was found.
#[data]
struct Hit {
    /// Its id.
    id: String,
    /// Its title.
    title: String,
    /// Where the words stand.
    snippet: String,
}

/// What a search found.
#[data]
struct Hits {
    /// The notes, the best first.
    results: Vec<Hit>,
}

/// Find notes by their words.
///
/// Stop words are ignored, and the
/// best note comes first.
#[tool(name = "notes.search", group = "notes", effect = read, tags("notes", "reading"))]
async fn search_notes(
    /// Words to look for.
    query: String,
    /// How many notes to return at the most.
    #[arg(default = 10, minimum = 1, maximum = 50)]
    limit: u32,
) -> Result<Hits, ToolError> {
    let hit = |number: u32| Hit {
        id: number.to_string(),
        title: format!("Note {number}"),
        snippet: query.clone(),
    };
    Ok(Hits { results: (0..limit.min(2)).map(hit).collect() })
}

/// Ends the run.
#[tool(
    title = "Finish",
    terminal,
    effect = keyed,
    retry(attempts = 3, delay = "500ms", max_delay = "5s"),
    timeout = "2s",
    total_timeout = "9s",
    limit = 2,
    repair = lenient,
    deferred,
    preview = show_finish,
    reconcile = find_finish
)]
async fn finish(log: &Log) {
    log.add("finished");
}

async fn show_finish(_log: &Log) -> String {
    "would finish".to_owned()
}

async fn find_finish(_log: &Log) -> toolwright::Reconciled {
    toolwright::Reconciled::Unknown
}

fn definition(registry: &Registry) -> Arc<Definition> {
    registry.get("notes.search").unwrap()
}

/// S0.6: the name is the function's, in snake case, unless another is given.
/// S1.19: a definition has a name.
#[test]
fn a_tool_is_called_like_its_function_unless_it_says_otherwise() {
    let registry = Registry::of([SEARCH_NOTES, FINISH]).unwrap();
    let catalog = registry.catalog();
    let names: Vec<&str> = catalog.names().collect();
    assert_eq!(names, ["notes.search", "finish"]);
    assert_eq!(registry.get("finish").unwrap().title.as_deref(), Some("Finish"));
}

/// S1.20: a definition has a description, from the doc comment.
/// S3.3: the description is what a model is shown.
#[test]
fn a_doc_comment_is_the_description_with_its_lines_joined() {
    let registry = Registry::of([SEARCH_NOTES]).unwrap();
    assert_eq!(
        definition(&registry).description,
        "Find notes by their words.\n\nStop words are ignored, and the best note comes first."
    );
}

/// S1.21: parameters are a JSON Schema.
/// S3.4: the schema is made from the types of the input.
/// S3.51: each field is described.
#[test]
fn the_input_schema_is_a_closed_object_with_described_fields() {
    let registry = Registry::of([SEARCH_NOTES]).unwrap();
    assert_eq!(
        definition(&registry).input_schema,
        json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "Words to look for."},
                "limit": {
                    "type": "integer",
                    "description": "How many notes to return at the most.",
                    "minimum": 1,
                    "maximum": 50,
                    "default": 10,
                },
            },
            "required": ["query"],
            "additionalProperties": false,
        })
    );
}

/// S3.8: the example `notes.search`: a query, a limit that is 10 unless given, and results of id,
/// title and snippet.
#[tokio::test]
async fn notes_are_searched_by_query_and_limit() {
    let executor = executor([SEARCH_NOTES]);
    let answer = executor.call(&Call::new("notes.search", r#"{"query":"milk"}"#)).await;
    let results = answer.structured().unwrap()["results"].clone();
    assert_eq!(results[0], json!({"id": "0", "title": "Note 0", "snippet": "milk"}));
    let definition = definition(executor.registry());
    assert_eq!(definition.parameters[1].schema["default"], 10);
    assert_eq!(
        definition.output_schema.as_ref().unwrap()["properties"]["results"]["items"]["required"],
        json!(["id", "title", "snippet"])
    );
}

/// S2.13: the types that a tool is described by are public: definition, parameter, requirement.
/// S2.23: the shape of a field's definition: its name, description, schema and whether it is
/// required.
#[test]
fn parameters_and_requirements_are_listed_one_by_one() {
    let registry = Registry::of([SEARCH_NOTES, FINISH]).unwrap();
    let search = definition(&registry);
    let fields: Vec<(&str, &str, bool)> = search
        .parameters
        .iter()
        .map(|it: &Parameter| (it.name.as_str(), it.description.as_str(), it.required))
        .collect();
    assert_eq!(
        fields,
        [
            ("query", "Words to look for.", true),
            ("limit", "How many notes to return at the most.", false)
        ]
    );
    let requires: &[Requirement] = &registry.get("finish").unwrap().requires;
    assert!(
        matches!(requires, [Requirement { exclusive: false, type_name }] if type_name.ends_with("Log"))
    );
}

/// S0.9: whether a tool is terminal stands in its definition, which is where a loop looks.
#[test]
fn the_attribute_is_carried_in_the_definition() {
    let registry = Registry::of([SEARCH_NOTES, FINISH]).unwrap();
    let (search, finish) = (definition(&registry), registry.get("finish").unwrap());
    assert!(finish.terminal && !search.terminal);
    assert_eq!((search.group.as_deref(), finish.group.as_deref()), (Some("notes"), None));
    assert_eq!(search.tags, ["notes", "reading"]);
    assert_eq!((search.effect, finish.effect), (Effect::Read, Effect::Keyed));
    assert_eq!(
        finish.retry,
        Retry {
            attempts: Some(3),
            delay: Some(Duration::from_millis(500)),
            max_delay: Some(Duration::from_secs(5))
        }
    );
    assert_eq!(finish.timeout, Timeout::After(Duration::from_secs(2)));
    assert_eq!(search.timeout, Timeout::Default);
    assert_eq!(finish.total_timeout, Timeout::After(Duration::from_secs(9)));
    assert_eq!(search.total_timeout, Timeout::Default);
    assert_eq!((finish.limit, finish.repair), (Some(2), Some(Repair::Lenient)));
    assert_eq!((search.exposure, finish.exposure), (Exposure::Direct, Exposure::Deferred));
    assert!(finish.previews && finish.reconciles && !search.previews && !search.reconciles);
}

#[test]
fn a_definition_says_where_its_tool_is_written() {
    let registry = Registry::of([SEARCH_NOTES]).unwrap();
    let location = definition(&registry).location;
    assert_eq!(location.package, "tests");
    let source = include_str!("definitions.rs").lines().nth(location.line as usize - 1).unwrap();
    assert!(source.contains("async fn search_notes"), "{source}");
}

/// S4.39: a definition has name, description and parameters, and the executor runs it with them
/// and its context.
#[tokio::test]
async fn what_a_definition_says_is_what_a_call_of_its_name_gets() {
    let executor = executor([SEARCH_NOTES]);
    let definition = definition(executor.registry());
    let arguments = json!({definition.parameters[0].name.as_str(): "milk"}).to_string();
    let answer = executor.call(&Call::new(definition.name.as_str(), arguments)).await;
    assert!(!answer.is_error());
    assert!(definition.description.starts_with("Find notes"));
}
