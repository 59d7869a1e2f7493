//! How much of something a provider takes, and what it takes in texts, formats and patterns.

use serde_json::{Map, Value, json};
use toolwright::dialect::{Dialect, RenderedTool, Rule};
use toolwright::{Registry, data, tool};

use super::refused::{rendered, with_property};

/// What the property is shown as.
fn shown(dialect: Dialect, property: Value) -> Value {
    let tool = with_property(dialect, property).unwrap();
    let tool: Value = serde_json::from_str(&tool.json).unwrap();
    let parameters = match dialect {
        Dialect::OpenAiChatStrict => &tool["function"]["parameters"],
        Dialect::Gemini => &tool["parametersJsonSchema"],
        Dialect::GeminiOpenApi => &tool["parameters"],
        Dialect::Mcp => &tool["inputSchema"],
        _ => &tool["input_schema"],
    };
    parameters["properties"]["it"].clone()
}

fn with_unions(count: usize) -> Result<RenderedTool, Vec<(Rule, String)>> {
    let union = json!({"anyOf": [{"type": "string"}, {"type": "integer"}]});
    let unions: Map<String, Value> =
        (0..count).map(|it| (format!("p{it}"), union.clone())).collect();
    let required: Vec<&String> = unions.keys().collect();
    let schema = json!({"type": "object", "required": required, "properties": unions});
    rendered(Dialect::AnthropicStrict, &schema)
}

#[test]
fn anthropic_takes_sixteen_values_of_several_types() {
    assert!(with_unions(16).is_ok());
    assert_eq!(with_unions(17).unwrap_err(), [(Rule::Size, "/input_schema".to_owned())]);

    let registry = Registry::of([COMPARE.renamed("compare"), COMPARE.renamed("contrast")]).unwrap();
    let error = registry.listing(Dialect::AnthropicStrict).unwrap_err();
    assert_eq!(error.findings.last().map(|it| it.rule), Some(Rule::ToolCount));
    let registry = Registry::of([COMPARE]).unwrap();
    assert!(registry.listing(Dialect::AnthropicStrict).is_ok());
}

/// A number or a word.
#[data]
#[serde(untagged)]
enum Either {
    /// The number.
    Number(i64),
    /// The word.
    Word(String),
}

/// Compares what may be of several types.
#[tool(effect = read)]
async fn compare(
    /// All of them.
    all: Nine,
) {
    drop(all);
}

/// Nine of them.
#[data]
struct Nine {
    /// One.
    a: Either,
    /// One.
    b: Either,
    /// One.
    c: Either,
    /// One.
    d: Either,
    /// One.
    e: Either,
    /// One.
    f: Either,
    /// One.
    g: Either,
    /// One.
    h: Either,
    /// One.
    i: Either,
}

#[test]
fn a_long_enum_has_short_texts_at_openai() {
    let choices = |count: usize, length: usize| {
        let texts: Vec<String> = (0..count).map(|it| format!("{it:0length$}")).collect();
        json!({"type": "string", "enum": texts})
    };
    let strict = |property| with_property(Dialect::OpenAiChatStrict, property);
    assert!(strict(choices(250, 100)).is_ok());
    assert!(strict(choices(300, 50)).is_ok());
    let refused = [(Rule::Size, "/input_schema".to_owned())];
    assert_eq!(strict(choices(300, 51)).unwrap_err(), refused);
    assert!(with_property(Dialect::OpenAiChat, choices(300, 51)).is_ok());
}

#[test]
fn a_pattern_that_looks_around_is_told_in_words_where_the_provider_cannot() {
    let text = |pattern: &str| json!({"type": "string", "pattern": pattern});
    let told = shown(Dialect::OpenAiChatStrict, text("^(?!a)"));
    let words = "Matches the regular expression `^(?!a)`.";
    assert_eq!(told, json!({"type": "string", "description": words}));
    assert_eq!(shown(Dialect::OpenAiChatStrict, text("^(?:a)$")), text("^(?:a)$"));
    assert_eq!(shown(Dialect::Mcp, text("^(?!a)")), text("^(?!a)"));
}

#[test]
fn the_older_form_of_gemini_takes_few_formats() {
    let older = |kind: &str, format: &str| {
        shown(Dialect::GeminiOpenApi, json!({"type": kind, "format": format}))
    };
    let sent = json!({"type": "STRING", "format": "date-time"});
    assert_eq!(older("string", "date-time"), sent);
    assert_eq!(older("integer", "int32"), json!({"type": "INTEGER", "format": "int32"}));
    let told = |kind: &str, words: &str| json!({"type": kind, "description": words});
    assert_eq!(older("string", "uuid"), told("STRING", "Format: uuid."));
    assert_eq!(older("string", "int32"), told("STRING", "Format: int32."));
    assert_eq!(older("integer", "uint8"), told("INTEGER", "Format: uint8."));
}

#[test]
fn a_limit_that_an_author_wrote_is_shown() {
    /// Takes numbers.
    #[tool(effect = read)]
    async fn numbers(
        /// One.
        #[arg(maximum = 9223372036854775807)]
        limited: u64,
        /// Another.
        free: u64,
        /// A third.
        signed: i64,
    ) {
        let _ = (limited, free, signed);
    }
    let listing = Registry::of([NUMBERS]).unwrap().listing(Dialect::Mcp).unwrap();
    let tools: Value = serde_json::from_str(listing.tools().get()).unwrap();
    let properties = &tools[0]["inputSchema"]["properties"];
    assert_eq!(properties["limited"]["maximum"], i64::MAX);
    assert_eq!(properties["free"].get("maximum"), None);
    assert_eq!(properties["signed"].get("maximum"), None);
    assert_eq!(properties["signed"].get("minimum"), None);
}

#[test]
fn an_input_of_which_nothing_is_to_say_has_no_schema_at_gemini() {
    let bare = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let mut described = bare.clone();
    described["description"] = "Nothing is needed.".into();
    let shown = |schema: &Value| rendered(Dialect::Gemini, schema).unwrap().json;
    assert_eq!(shown(&bare), r#"{"name":"tool","description":"Does it."}"#);
    let words = r#"{"name":"tool","description":"Does it.\n\nNothing is needed."}"#;
    assert_eq!(shown(&described), words);
    let patterned = json!({"type": "object", "patternProperties": {"^[a-z]+$": {"type": "string"}},
        "additionalProperties": false});
    assert!(shown(&patterned).contains("parametersJsonSchema"), "{}", shown(&patterned));
}
