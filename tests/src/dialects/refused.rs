//! What a form cannot express is refused, by its place and with a way out.

use serde_json::{Value, json};
use toolwright::dialect::{DescribedTool, Dialect, RenderedTool, Rule, Severity};

/// Renders a tool with one property of this schema.
pub(super) fn with_property(
    dialect: Dialect,
    property: Value,
) -> Result<RenderedTool, Vec<(Rule, String)>> {
    rendered(
        dialect,
        &json!({
            "type": "object",
            "properties": {"it": property},
            "required": ["it"],
            "additionalProperties": false,
        }),
    )
}

pub(super) fn rendered(
    dialect: Dialect,
    schema: &Value,
) -> Result<RenderedTool, Vec<(Rule, String)>> {
    dialect.render(&DescribedTool::new("tool", "Does it.", schema)).map_err(|findings| {
        let errors = findings.into_iter().filter(|it| it.severity == Severity::Error);
        errors.map(|it| (it.rule, it.pointer)).collect()
    })
}

fn accepting(property: &Value) -> Vec<&'static str> {
    let dialects = Dialect::ALL.into_iter();
    dialects
        .filter(|dialect| with_property(*dialect, property.clone()).is_ok())
        .map(Dialect::name)
        .collect()
}

const PLAIN: [&str; 4] = ["anthropic", "openai-chat", "openai-responses", "mcp"];

#[test]
fn each_form_takes_what_its_provider_takes() {
    let map = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    assert_eq!(accepting(&map), ["anthropic", "openai-chat", "openai-responses", "gemini", "mcp"]);
    assert_eq!(accepting(&json!({})), PLAIN);
    assert_eq!(accepting(&json!({"type": "array"})), ["anthropic", "mcp"]);
    assert_eq!(accepting(&json!({"not": {"type": "string"}})), PLAIN);
    assert_eq!(accepting(&json!({"type": "array", "items": {"type": "string"}})).len(), 9);
    assert_eq!(accepting(&json!({"type": ["string", "null"]})).len(), 9);
    assert_eq!(accepting(&json!({"enum": ["", "a", 1]})).len(), 9);
    let tuple = json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}],
        "items": false, "minItems": 2, "maxItems": 2});
    assert_eq!(accepting(&tuple).len(), 9);
}

#[test]
fn a_refusal_names_rule_and_place() {
    let refused = |dialect, property| with_property(dialect, property).unwrap_err();
    let it = |rule, place: &str| vec![(rule, format!("/input_schema/properties/it{place}"))];
    let strict = Dialect::OpenAiChatStrict;
    assert_eq!(refused(strict, json!({"type": "array", "items": {}})), it(Rule::Untyped, "/items"));
    assert_eq!(refused(strict, json!({"$ref": "#/$defs/Nobody"})), it(Rule::Reference, ""));
    assert_eq!(
        refused(strict, json!({"$ref": "https://example.org/a.json"})),
        it(Rule::Reference, "")
    );
    assert_eq!(
        refused(
            strict,
            json!({"type": "object", "properties": {"a/b": {"type": ["integer", "null"]}},
                "additionalProperties": false})
        ),
        it(Rule::NullOrAbsent, "/properties/a~1b")
    );
    assert_eq!(
        refused(strict, json!({"type": "object", "properties": {}, "required": ["b"]})),
        [
            (Rule::Impossible, "/input_schema/properties/it/required".to_owned()),
            (Rule::OpenObject, "/input_schema/properties/it".to_owned()),
        ]
    );
    assert_eq!(
        refused(
            strict,
            json!({"allOf": [{"type": "string", "pattern": "a"}, {"type": "string", "pattern": "b"}]})
        ),
        it(Rule::Unsupported, "")
    );
    let schema = json!({"type": "object", "properties": {"two words": {"type": "string"}}});
    assert_eq!(
        rendered(Dialect::Anthropic, &schema).unwrap_err(),
        [(Rule::PropertyName, "/input_schema/properties/two words".to_owned())]
    );
}

#[test]
fn anthropic_is_shown_any_property_name_but_those_of_the_input_itself() {
    let search = json!({"type": "object", "properties": {"$vectorSearch": {"type": "string"}},
        "required": ["$vectorSearch"], "additionalProperties": false});
    let pipeline = json!({"type": "array", "items": search});
    for dialect in [Dialect::Anthropic, Dialect::AnthropicStrict] {
        let place = "/input_schema/properties/$vectorSearch".to_owned();
        assert_eq!(rendered(dialect, &search).unwrap_err(), [(Rule::PropertyName, place)]);

        let taken = with_property(dialect, pipeline.clone()).unwrap();
        assert!(taken.json.contains("\"$vectorSearch\""), "{}", taken.json);
        let notes: Vec<_> = taken.notes.iter().map(|it| (it.rule, it.pointer.as_str())).collect();
        let below = "/input_schema/properties/it/items/properties/$vectorSearch";
        assert_eq!(notes, [(Rule::PropertyName, below)]);
        assert_eq!(
            taken.notes[0].message,
            "the key `$vectorSearch` is not made of letters, digits, `_`, `.` and `-`, 64 at the most; \
             the provider demands that of the keys of the input alone"
        );
    }
    assert_eq!(with_property(Dialect::Mcp, pipeline).unwrap().notes, []);
}

#[test]
fn an_input_that_is_a_choice_is_refused_where_the_root_must_be_one_object() {
    let schema = json!({"type": "object", "oneOf": [
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]},
    ]});
    for dialect in Dialect::ALL {
        let is_taken = rendered(dialect, &schema).is_ok();
        assert_eq!(is_taken, dialect == Dialect::Mcp, "{dialect}");
    }
    let none = rendered(Dialect::Mcp, &json!({"type": "string"})).unwrap_err();
    assert_eq!(none, [(Rule::Root, "/input_schema".to_owned())]);
}

#[test]
fn a_schema_larger_than_the_provider_takes_is_refused() {
    let mut nested = json!({"type": "string"});
    for _ in 0..10 {
        nested = json!({"type": "object", "properties": {"in": nested}, "required": ["in"],
            "additionalProperties": false});
    }
    let size = [(Rule::Size, "/input_schema".to_owned())];
    assert_eq!(with_property(Dialect::OpenAiChatStrict, nested.clone()).unwrap_err(), size);
    assert!(with_property(Dialect::OpenAiChat, nested).is_ok());

    let many: Vec<String> = (0..1_001).map(|it| it.to_string()).collect();
    let many = json!({"type": "string", "enum": many});
    assert_eq!(with_property(Dialect::OpenAiResponsesStrict, many.clone()).unwrap_err(), size);
    assert!(with_property(Dialect::AnthropicStrict, many).is_ok());

    let optional: serde_json::Map<String, Value> =
        (0..25).map(|it| (format!("p{it}"), json!({"type": "string"}))).collect();
    let optional = json!({"type": "object", "properties": optional});
    assert_eq!(rendered(Dialect::AnthropicStrict, &optional).unwrap_err(), size);
    assert!(rendered(Dialect::OpenAiChatStrict, &optional).is_ok());
}

#[test]
fn no_nesting_and_no_multiplication_of_references_is_too_much() {
    let mut nested = json!({"type": "string"});
    for _ in 0..300 {
        nested = json!({"type": "array", "items": nested});
    }
    for dialect in Dialect::ALL {
        let errors = with_property(dialect, nested.clone()).unwrap_err();
        assert_eq!(errors.iter().map(|(rule, _)| *rule).collect::<Vec<_>>(), [Rule::Size]);
    }

    let mut definitions = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/{}", level + 1)});
        let pair = json!({"type": "object", "properties": {"a": next, "b": next}});
        definitions.insert(level.to_string(), pair);
    }
    definitions.insert("40".to_owned(), json!({"type": "string"}));
    let schema = json!({"type": "object", "properties": {"it": {"$ref": "#/$defs/0"}},
        "$defs": definitions});
    assert_eq!(rendered(Dialect::GeminiOpenApi, &schema).unwrap_err()[0].0, Rule::Size);
    assert!(rendered(Dialect::Gemini, &schema).is_ok());
}

#[test]
fn references_in_a_circle_end() {
    let circle = json!({"type": "object", "properties": {"it": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}});
    for dialect in [Dialect::AnthropicStrict, Dialect::Gemini, Dialect::GeminiOpenApi] {
        let errors = rendered(dialect, &circle).unwrap_err();
        assert!(errors.iter().all(|(rule, _)| *rule == Rule::Recursion), "{errors:?}");
    }
}

#[test]
fn recursion_is_taken_by_gemini_below_a_property_that_may_be_absent() {
    let tree = |required: &[&str]| {
        json!({"type": "object", "properties": {"it": {"$ref": "#/$defs/Tree"}},
        "required": ["it"], "$defs": {"Tree": {
            "type": "object",
            "properties": {"twigs": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
            "required": required,
        }}})
    };
    assert!(rendered(Dialect::Gemini, &tree(&[])).is_ok());
    assert_eq!(
        rendered(Dialect::Gemini, &tree(&["twigs"])).unwrap_err(),
        [(Rule::Recursion, "/input_schema/$defs/Tree".to_owned())]
    );
}

#[test]
fn what_has_no_keyword_is_told_in_words() {
    let property = json!({"type": "array", "description": "Pairs", "uniqueItems": true, "minItems": 1,
        "items": {"type": "array", "prefixItems": [
            {"type": "string", "description": "The key."}, {"type": "integer"}], "items": false},
        "x-unit": "m"});
    let shown = with_property(Dialect::OpenAiChatStrict, property).unwrap();
    let shown: Value = serde_json::from_str(&shown.json).unwrap();
    assert_eq!(
        shown["function"]["parameters"]["properties"]["it"],
        json!({
            "type": "array",
            "description": "Pairs. No item twice. Keeps to the JSON Schema {\"x-unit\":\"m\"}.",
            "items": {
                "type": "array",
                "description": "In this order: 1. The key; 2. an integer.",
                "items": {"anyOf": [
                    {"type": "string", "description": "The key."}, {"type": "integer"}]},
                "maxItems": 2,
            },
            "minItems": 1,
        })
    );
}

#[test]
fn an_object_with_variants_becomes_a_choice_between_whole_objects() {
    let property = json!({"type": "object", "properties": {"id": {"type": "integer"}},
        "required": ["id"], "unevaluatedProperties": false, "oneOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}]});
    let shown = with_property(Dialect::Gemini, property).unwrap();
    let shown: Value = serde_json::from_str(&shown.json).unwrap();
    let whole = |key: &str| {
        json!({"type": "object", "properties": {key: {"type": "string"}, "id": {"type": "integer"}},
            "propertyOrdering": [key, "id"], "required": [key, "id"], "additionalProperties": false})
    };
    assert_eq!(
        shown["parametersJsonSchema"]["properties"]["it"],
        json!({"anyOf": [whole("a"), whole("b")]})
    );
}

#[test]
fn a_null_behind_a_reference_is_one_that_cannot_be_told_from_an_absent_key() {
    let value = json!({"$ref": "#/$defs/Json"});
    let schema = json!({
        "type": "object",
        "properties": {"a": value, "b": {"allOf": [value], "description": "The same."}},
        "required": [], "additionalProperties": false,
        "$defs": {"Json": {"anyOf": [
            {"type": "null"}, {"type": "boolean"}, {"type": "array", "items": value}]}},
    });
    let refused =
        ["a", "b"].map(|it| (Rule::NullOrAbsent, format!("/input_schema/properties/{it}")));
    assert_eq!(rendered(Dialect::OpenAiChatStrict, &schema).unwrap_err(), refused);
}
