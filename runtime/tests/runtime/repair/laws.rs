//! What holds of every schema and every text.

mod nearly;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolwright::Repair;
use toolwright::repair::replay;
use toolwright::unstable::repair::{Repairer, TruncatedInput};

use super::{cases, standard};
use nearly::{nearly_a_scalar, nearly_json};

const KEYS: [&str; 5] = ["path", "max_items", "maxDepth", "a", "kind"];

fn scalar_schema() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "integer"})),
        Just(json!({"type": "number"})),
        Just(json!({"type": "boolean"})),
        Just(json!({"type": ["integer", "null"]})),
        Just(json!({"type": ["string", "boolean"]})),
        Just(json!({"type": "integer", "minimum": 0, "maximum": 100})),
        Just(json!({"type": "string", "minLength": 2})),
        Just(json!({"type": "string", "pattern": "^[a-z_]+$"})),
        Just(json!({"enum": ["by_name", "byDate", "Size"]})),
        Just(json!({"enum": [1, "1", true]})),
        Just(json!({"const": "circle"})),
        Just(json!({"$ref": "#/$defs/node"})),
        Just(json!({})),
    ]
}

fn schema_within() -> impl Strategy<Value = Value> {
    scalar_schema().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            object_schema(inner.clone()),
            (inner.clone(), inner.clone()).prop_map(|(one, two)| json!({"anyOf": [one, two]})),
            (inner.clone(), inner).prop_map(|(one, two)| json!({"oneOf": [one, two]})),
        ]
    })
}

fn object_schema(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let property = (proptest::sample::select(KEYS.to_vec()), inner, any::<bool>());
    (prop::collection::vec(property, 0..4), 0..4_u8).prop_map(|(properties, open)| {
        let mut schema = json!({"type": "object", "properties": {}, "required": []});
        for (key, inner, required) in properties {
            if schema["properties"].get(key).is_none() && required {
                schema["required"].as_array_mut().expect("an array").push(key.into());
            }
            schema["properties"][key] = inner;
        }
        if open > 0 {
            schema["additionalProperties"] = false.into();
        }
        schema
    })
}

fn root_schema() -> impl Strategy<Value = Value> {
    object_schema(schema_within()).prop_map(|mut schema| {
        schema["$defs"] = json!({"node": {
            "type": "object", "required": ["a"], "additionalProperties": false,
            "properties": {"a": {"type": "integer"}, "path": {"$ref": "#/$defs/node"}},
        }});
        schema
    })
}

fn scalar_text() -> impl Strategy<Value = String> {
    let words = ["true", "No", "1", "0", " 7 ", "by name", "by_name", "Circle", "", "null", "[1]"];
    prop_oneof![
        proptest::sample::select(words.to_vec()).prop_map(|word| json!(word).to_string()),
        "-?[1-9][0-9]{0,30}".prop_map(|digits| digits),
        "-?[1-9][0-9]{0,30}".prop_map(|digits| json!(digits).to_string()),
        "-?[0-9]\\.[0-9]{1,3}(e[0-9])?".prop_map(|digits| digits),
        any::<String>().prop_map(|text| json!(text).to_string()),
        "[a-z]{1,6}".prop_map(|text| json!(text).to_string()),
        Just("true".to_owned()),
        Just("null".to_owned()),
    ]
}

/// Any text of JSON, with keys that are known or nearly so.
fn any_text() -> impl Strategy<Value = String> {
    let keys =
        ["path", "Path", "max_items", "maxItems", "max-depth", "maxDepth", "a", "A", "kind", "x"];
    scalar_text().prop_recursive(3, 16, 4, move |inner| {
        let list = prop::collection::vec(inner.clone(), 0..3);
        let object = prop::collection::vec((proptest::sample::select(keys.to_vec()), inner), 0..4);
        prop_oneof![
            list.prop_map(|items| format!("[{}]", items.join(","))),
            object.prop_map(|entries| object_text(&entries)),
        ]
    })
}

fn object_text(entries: &[(&str, String)]) -> String {
    let mut written: Vec<String> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (key, value) in entries {
        if !seen.contains(key) {
            seen.push(key);
            written.push(format!("{}:{value}", json!(key)));
        }
    }
    format!("{{{}}}", written.join(", "))
}

/// A text that its schema accepts or nearly so.
fn text_for(schema: &Value, root: &Value, depth: usize) -> BoxedStrategy<String> {
    if depth == 0 {
        return scalar_text().boxed();
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(target.trim_start_matches('#')).expect("it is defined");
        return text_for(target, root, depth - 1);
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(ways) = schema.get(keyword).and_then(Value::as_array) {
            let ways: Vec<_> = ways.iter().map(|way| text_for(way, root, depth - 1)).collect();
            return proptest::strategy::Union::new(ways).boxed();
        }
    }
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        let right = proptest::sample::select(choices.clone()).prop_map(|it| it.to_string());
        let spelt = proptest::sample::select(vec!["\"By Name\"", "\"bydate\"", "\"SIZE\"", "1"]);
        return prop_oneof![3 => right, 1 => spelt.prop_map(str::to_owned)].boxed();
    }
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(only)) => vec![only],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => vec!["string"],
    };
    let right = match types[0] {
        "string" => "[a-z_]{0,5}".prop_map(|text| json!(text).to_string()).boxed(),
        "integer" => "-?[1-9][0-9]{0,24}".prop_map(|digits| digits).boxed(),
        "number" => "-?[0-9]\\.[0-9]{1,3}".prop_map(|digits| digits).boxed(),
        "boolean" => prop_oneof!["true", "false"].prop_map(|word| word).boxed(),
        "array" => {
            let items = text_for(schema.get("items").unwrap_or(&Value::Null), root, depth - 1);
            prop::collection::vec(items, 0..3)
                .prop_map(|items| format!("[{}]", items.join(",")))
                .boxed()
        }
        "object" => object_for(schema, root, depth),
        _ => scalar_text().boxed(),
    };
    let as_text = right.clone().prop_map(|text| json!(text).to_string());
    prop_oneof![6 => right, 2 => as_text, 1 => scalar_text()].boxed()
}

fn object_for(schema: &Value, root: &Value, depth: usize) -> BoxedStrategy<String> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let entries: Vec<BoxedStrategy<Option<(String, String)>>> = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, inner)| {
            let given = if required.contains(&json!(key)) { 0.95 } else { 0.6 };
            let spelt = vec![key.clone(), key.clone(), key.to_uppercase(), key.replace('_', "-")];
            let entry = (proptest::sample::select(spelt), text_for(inner, root, depth - 1));
            prop::option::weighted(given, entry).boxed()
        })
        .collect();
    entries
        .prop_map(|entries| {
            let entries: Vec<String> = entries
                .into_iter()
                .flatten()
                .map(|(key, value)| format!("{}: {value}", json!(key)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        })
        .boxed()
}

fn schema_and_text() -> impl Strategy<Value = (Value, String)> {
    root_schema().prop_flat_map(|schema| {
        let near = text_for(&schema, &schema, 6);
        let text = prop_oneof![4 => near, 1 => any_text()];
        (Just(schema), text)
    })
}

fn level() -> impl Strategy<Value = Repair> {
    prop_oneof![Just(Repair::Standard), Just(Repair::Lenient)]
}

fn is_accepted(schema: &Value, text: &str) -> bool {
    let value: Value = serde_json::from_str(text).expect("the text is JSON");
    jsonschema::validator_for(schema).expect("the schema is right").is_valid(&value)
}

/// The numbers outside texts.
fn numbers(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_text = false;
    let mut letters = text.chars().peekable();
    let mut number = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if in_text => drop(letters.next()),
            '"' => in_text = !in_text,
            '0'..='9' | '-' | '+' | '.' | 'e' | 'E' if !in_text => number.push(letter),
            _ => {}
        }
        let goes_on = letters.peek().is_some_and(|it| "0123456789-+.eE".contains(*it));
        if !goes_on && number.contains(|it: char| it.is_ascii_digit()) {
            found.push(std::mem::take(&mut number));
        } else if !goes_on {
            number.clear();
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_the_schema_accepts_is_never_changed((schema, text) in schema_and_text(), level in level()) {
        let repaired = Repairer::new(&schema, []).unwrap().repair(&text, level, TruncatedInput::Refused);
        if is_accepted(&schema, &text) {
            let repaired = repaired.unwrap();
            prop_assert_eq!(&repaired.text, &text);
            prop_assert!(repaired.changes.is_empty());
        } else if let Ok(repaired) = repaired {
            prop_assert!(!repaired.changes.is_empty());
        }
    }

    #[test]
    fn what_is_returned_satisfies_the_schema((schema, text) in schema_and_text(), level in level()) {
        if let Ok(repaired) = Repairer::new(&schema, []).unwrap().repair(&text, level, TruncatedInput::Refused) {
            prop_assert!(is_accepted(&schema, &repaired.text), "{}", repaired.text);
        }
    }

    #[test]
    fn repairing_again_changes_nothing((schema, text) in schema_and_text(), level in level()) {
        let ladder = Repairer::new(&schema, []).unwrap();
        if let Ok(once) = ladder.repair(&text, level, TruncatedInput::Refused) {
            let twice = ladder.repair(&once.text, level, TruncatedInput::Refused).unwrap();
            prop_assert!(twice.changes.is_empty());
            prop_assert_eq!(twice.text, once.text);
        }
    }

    #[test]
    fn the_report_replayed_gives_the_input((schema, text) in schema_and_text(), level in level()) {
        let sent = [text.clone(), format!("```\n{text}\n```"), json!({"arguments": text}).to_string()];
        for text in sent {
            if let Ok(repaired) = Repairer::new(&schema, []).unwrap().repair(&text, level, TruncatedInput::Refused) {
                prop_assert_eq!(replay(&text, &repaired.changes), Some(repaired.text));
            }
        }
    }

    #[test]
    fn every_number_was_sent_digit_for_digit((schema, text) in schema_and_text()) {
        if let Ok(repaired) = Repairer::new(&schema, []).unwrap().repair(&text, Repair::Standard, TruncatedInput::Refused) {
            for number in numbers(&repaired.text) {
                prop_assert!(text.contains(&number), "{} is new in {}", number, repaired.text);
            }
        }
    }

    #[test]
    fn an_integer_of_any_size_survives(digits in "-?[1-9][0-9]{0,200}") {
        let schema = json!({
            "type": "object", "additionalProperties": false,
            "properties": {"v": {"type": "integer"}, "t": {"type": "string"}},
        });
        let text = format!(r#"{{"v":"{digits}","t":{digits}}}"#);
        prop_assert_eq!(standard(&schema, &text), format!(r#"{{"v":{digits},"t":"{digits}"}}"#));
    }

    #[test]
    fn a_text_that_its_schema_accepts_stays(
        text in prop_oneof![any::<String>(), scalar_text(), any_text()],
        also in prop_oneof![any::<String>(), any_text()],
    ) {
        let schema = json!({
            "type": "object", "additionalProperties": false,
            "properties": {
                "v": {"type": "integer"}, "t": {"type": "string"},
                "u": {"type": "array", "items": {"type": ["string", "object"]}},
                "w": {"anyOf": [{"type": "boolean"}, {"type": "string"}]},
            },
        });
        let sent = json!({"T": text, "u": [also], "v": "1", "w": text}).to_string();
        let read: Value = serde_json::from_str(&standard(&schema, &sent)).unwrap();
        prop_assert_eq!(&read, &json!({"t": text, "u": [also], "v": 1, "w": text}));
    }

    #[test]
    fn a_text_is_json_where_serde_json_says_so(text in prop_oneof![any_text(), nearly_json(), nearly_a_scalar()]) {
        let ladder = Repairer::new(&json!({}), []).unwrap();
        let taken = ladder.repair(&text, Repair::Off, TruncatedInput::Refused);
        let parsed = serde_json::from_str::<Value>(&text);
        match (&taken, &parsed) {
            (Ok(repaired), Ok(_)) => prop_assert_eq!(&repaired.text, &text),
            (Err(refusal), Ok(_)) => {
                let repeated = toolwright::__private0::Rule::DuplicateKey;
                prop_assert!(refusal.problems.iter().all(|it| it.rule == repeated), "{}", refusal);
            }
            (Ok(_), Err(error)) => prop_assert!(false, "{text}: {error}"),
            (Err(_), Err(_)) => {}
        }
    }

    #[test]
    fn no_text_makes_it_fail(text in prop_oneof![any::<String>(), nearly_json()], schema in root_schema()) {
        let ladder = Repairer::new(&schema, [("path", &["file"][..])]).unwrap();
        for level in [Repair::Off, Repair::Standard, Repair::Lenient] {
            if let Err(refusal) = ladder.repair(&text, level, TruncatedInput::Completed) {
                prop_assert!(refusal.to_string().chars().count() <= 2_000);
            }
        }
    }
}
