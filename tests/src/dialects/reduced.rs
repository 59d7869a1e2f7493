//! What a form has no place for comes to something that it has a place for.

use serde_json::{Map, Value, json};
use toolwright::dialect::{Dialect, Rule};

use super::refused::{rendered, with_property};

fn schema_of(dialect: Dialect, tool: &str) -> Value {
    let tool: Value = serde_json::from_str(tool).unwrap();
    match dialect {
        Dialect::OpenAiChat | Dialect::OpenAiChatStrict => tool["function"]["parameters"].clone(),
        Dialect::OpenAiResponses => tool["parameters"].clone(),
        Dialect::Gemini => tool["parametersJsonSchema"].clone(),
        Dialect::GeminiOpenApi => tool["parameters"].clone(),
        Dialect::Mcp => tool["inputSchema"].clone(),
        _ => tool["input_schema"].clone(),
    }
}

fn shown(dialect: Dialect, property: Value) -> Value {
    let tool = with_property(dialect, property).unwrap();
    schema_of(dialect, &tool.json)["properties"]["it"].clone()
}

fn with_definitions(
    dialect: Dialect,
    property: Value,
    definitions: Value,
) -> Result<Value, Vec<Rule>> {
    let schema = json!({"type": "object", "properties": {"it": property}, "required": ["it"],
        "additionalProperties": false, "$defs": definitions});
    let tool = rendered(dialect, &schema);
    let tool =
        tool.map_err(|errors| errors.into_iter().map(|(rule, _)| rule).collect::<Vec<_>>())?;
    Ok(schema_of(dialect, &tool.json)["properties"]["it"].clone())
}

#[test]
fn what_makes_a_provider_refuse_the_root_of_an_input_is_told_in_words_there() {
    let not = json!({"required": ["a", "b"]});
    let mut schema = json!({"type": "object", "description": "Either.", "properties": {
        "a": {"type": "string"}, "b": {"not": {"type": "string"}}},
        "not": not, "enum": [{"a": "x"}, {"b": 1}]});
    let told = "Either. One of {\"a\":\"x\"}, {\"b\":1}. Keeps to the JSON Schema {\"not\":{\"required\":[\"a\",\"b\"]}}.";
    for dialect in [Dialect::OpenAiChat, Dialect::OpenAiResponses, Dialect::Anthropic] {
        let tool = rendered(dialect, &schema).unwrap();
        let shown = schema_of(dialect, &tool.json);
        assert!(shown.get("not").is_none() && shown.get("enum").is_none(), "{dialect}: {shown}");
        assert_eq!(shown["description"], told, "{dialect}");
        assert_eq!(shown["properties"]["b"], json!({"not": {"type": "string"}}), "{dialect}");
        assert_eq!(tool.notes.len(), 2, "{dialect}: {:?}", tool.notes);
    }
    let shown = schema_of(Dialect::Mcp, &rendered(Dialect::Mcp, &schema).unwrap().json);
    assert_eq!((&shown["not"], &shown["description"]), (&not, &json!("Either.")));
    // The same beside a reference.
    schema["$ref"] = "#/$defs/all".into();
    schema["$defs"] = json!({"all": {"type": "object"}});
    let tool = rendered(Dialect::OpenAiChat, &schema).unwrap();
    let shown = schema_of(Dialect::OpenAiChat, &tool.json);
    assert!(shown.get("not").is_none() && shown.get("enum").is_none(), "{shown}");
}

#[test]
fn a_default_beside_a_choice_is_told_where_the_choice_stands_alone() {
    let property = json!({"anyOf": [{"type": "string"}, {"type": "integer"}], "default": "a"});
    let told = |kind: &str| json!({"type": kind, "description": "Default: \"a\"."});
    let expected = json!({"anyOf": [told("STRING"), told("INTEGER")]});
    assert_eq!(shown(Dialect::GeminiOpenApi, property.clone()), expected);
    let notes = with_property(Dialect::GeminiOpenApi, property).unwrap().notes;
    assert!(notes.iter().any(|it| it.message.contains("`default`")), "{notes:?}");
    let list = json!({"type": ["string", "integer"], "default": "a"});
    assert_eq!(shown(Dialect::GeminiOpenApi, list), expected);
}

#[test]
fn a_choice_in_a_choice_is_one_choice_where_it_stands_alone() {
    let property = json!({"description": "Outer.", "anyOf": [
        {"type": "boolean"},
        {"description": "Inner.", "anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
    ]});
    let variant = |kind: &str, words: &str| json!({"type": kind, "description": words});
    let mut expected = json!({"anyOf": [
        variant("BOOLEAN", "Outer."),
        variant("STRING", "Outer.\n\nInner."),
        variant("INTEGER", "Outer.\n\nInner."),
    ]});
    for inner in [1, 2] {
        expected["anyOf"][inner]["nullable"] = true.into();
    }
    assert_eq!(shown(Dialect::GeminiOpenApi, property), expected);
}

#[test]
fn a_type_beside_a_choice_is_kept() {
    let property = json!({"type": "string", "anyOf": [
        {"minLength": 2, "maxLength": 3}, {"type": ["string", "integer"]}, {"type": "boolean"}]});
    assert_eq!(
        shown(Dialect::GeminiOpenApi, property),
        json!({"anyOf": [
            {"type": "STRING", "minLength": "2", "maxLength": "3"}, {"type": "STRING"}]})
    );
    let nothing = json!({"type": "string", "anyOf": [{"type": "boolean"}, {"type": "integer"}]});
    let errors = with_property(Dialect::Gemini, nothing).unwrap_err();
    assert_eq!(errors[0].0, Rule::Impossible);
}

#[test]
fn an_enum_without_null_does_not_take_it() {
    let property = json!({"type": ["string", "null"], "enum": ["a", "b"]});
    let plain = json!({"type": "string", "enum": ["a", "b"]});
    for dialect in [Dialect::OpenAiChatStrict, Dialect::AnthropicStrict, Dialect::Gemini] {
        assert_eq!(shown(dialect, property.clone()), plain, "{dialect}");
    }
    let older = json!({"type": "STRING", "enum": ["a", "b"]});
    assert_eq!(shown(Dialect::GeminiOpenApi, property), older);
}

#[test]
fn what_stands_beside_a_reference_adds_to_it_or_is_refused() {
    let definitions = json!({"A": {"type": "object", "properties": {"a": {"type": "string"}},
        "required": ["a"], "minProperties": 2}});
    let beside = |further: Value| {
        let mut property = json!({"$ref": "#/$defs/A"});
        property.as_object_mut().unwrap().append(&mut further.as_object().unwrap().clone());
        with_definitions(Dialect::GeminiOpenApi, property, definitions.clone())
    };
    let both = beside(json!({"properties": {"b": {"type": "string"}}, "required": ["b"]})).unwrap();
    assert_eq!(both["properties"].as_object().unwrap().len(), 2);
    assert_eq!(both["required"], json!(["a", "b"]));
    assert_eq!(beside(json!({"minProperties": 1})), Err(vec![Rule::Unsupported]));
    assert_eq!(beside(json!({"default": {"a": "b"}})).unwrap()["default"], json!({"a": "b"}));
}

#[test]
fn only_false_closes_what_variants_leave_over() {
    let variant = |key: &str| json!({"properties": {key: {"type": "string"}}, "required": [key]});
    let property = json!({"type": "object", "properties": {"id": {"type": "integer"}},
        "unevaluatedProperties": {"type": "string"}, "oneOf": [variant("a"), variant("b")]});
    let shown = shown(Dialect::Gemini, property);
    assert_eq!(shown["anyOf"][0]["additionalProperties"], json!({"type": "string"}));
}

#[test]
fn one_reference_in_all_of_is_the_reference() {
    let definitions = json!({"Color": {"type": "string", "enum": ["red", "blue"]}});
    let property = json!({"allOf": [{"$ref": "#/$defs/Color"}], "description": "The paint.",
        "default": "red"});
    let shown = |dialect, property: &Value| {
        with_definitions(dialect, property.clone(), definitions.clone()).unwrap()
    };
    let bare = json!({"allOf": [{"$ref": "#/$defs/Color"}]});
    for dialect in [Dialect::OpenAiChatStrict, Dialect::AnthropicStrict, Dialect::Gemini] {
        assert_eq!(shown(dialect, &bare), json!({"$ref": "#/$defs/Color"}), "{dialect}");
        let beside = shown(dialect, &property);
        assert_eq!(beside["anyOf"], json!([{"$ref": "#/$defs/Color"}]), "{dialect}");
        assert!(beside["description"].as_str().unwrap().starts_with("The paint."));
    }
    assert_eq!(
        shown(Dialect::GeminiOpenApi, &property),
        json!({"type": "STRING", "description": "The paint.", "enum": ["red", "blue"],
            "default": "red"})
    );
}

#[test]
fn recursion_by_way_of_all_of_is_called_recursion() {
    let link = json!({"$ref": "#/$defs/Node"});
    let node = |next: Value| {
        json!({"Node": {"type": "object", "properties": {"next": next}, "required": ["next"],
            "additionalProperties": false}})
    };
    let one = node(json!({"allOf": [link]}));
    let more = node(json!({"allOf": [link, {"type": "object"}], "minProperties": 1}));
    let of =
        |dialect, definitions: &Value| with_definitions(dialect, link.clone(), definitions.clone());
    for dialect in [Dialect::AnthropicStrict, Dialect::Gemini, Dialect::GeminiOpenApi] {
        for definitions in [&one, &more] {
            let errors = of(dialect, definitions).unwrap_err();
            assert!(errors.iter().all(|it| *it == Rule::Recursion), "{dialect}: {errors:?}");
        }
    }
    assert!(of(Dialect::OpenAiChatStrict, &one).is_ok());
    assert_eq!(of(Dialect::OpenAiChatStrict, &more), Err(vec![Rule::Recursion]));
}

#[test]
fn a_reference_below_what_stands_beside_the_same_one_is_no_recursion() {
    let definitions = json!({"A": {"type": "object", "properties": {"a": {"type": "string"}}}});
    let link = json!({"$ref": "#/$defs/A"});
    let beside = json!({"properties": {"b": link, "c": {"allOf": [link, {"minProperties": 1}]}}});
    let mut both = beside.clone();
    both["$ref"] = "#/$defs/A".into();
    for property in [json!({"allOf": [link, beside]}), both] {
        let shown =
            with_definitions(Dialect::GeminiOpenApi, property, definitions.clone()).unwrap();
        assert_eq!(shown["properties"]["b"]["properties"]["a"]["type"], "STRING");
        assert_eq!(shown["properties"]["c"]["properties"]["a"]["type"], "STRING");
    }
}

#[test]
fn ten_times_the_variants_and_parts_cost_no_hundred_times_the_work() {
    let cost = |count: usize| {
        let pattern = |it: usize| json!({"type": "string", "pattern": it.to_string()});
        let part = |it: usize| json!({"type": "object", "properties": {format!("p{it}"): {"type": "string"}}});
        let property = json!({"type": "object", "properties": {
            "one": {"oneOf": (0..count).map(pattern).collect::<Vec<_>>()},
            "all": {"allOf": (0..count).map(part).collect::<Vec<_>>()},
        }, "required": ["one", "all"]});
        let names: Map<String, Value> =
            (0..count).map(|it| (format!("n{it}"), json!({"type": "string"}))).collect();
        let mut order: Vec<String> = names.keys().cloned().collect();
        order.reverse();
        let mut properties = names;
        properties.insert("it".to_owned(), property);
        let schema = json!({"type": "object", "properties": properties, "required": order});
        let order: Vec<&str> = order.iter().map(String::as_str).collect();
        let mut tool = toolwright::dialect::DescribedTool::new("tool", "Does it.", &schema);
        tool.order = &order;
        let cost = (0..3).map(|_| {
            let begin = std::time::Instant::now();
            Dialect::Gemini.render(&tool).unwrap();
            begin.elapsed()
        });
        cost.min().unwrap()
    };
    // On a crowded machine one look says little. What grows with the square passes none.
    let costs: Vec<_> = (0..10).map(|_| (cost(300), cost(3_000))).collect();
    assert!(costs.iter().any(|(few, many)| *many < *few * 40), "{costs:?}");
}
