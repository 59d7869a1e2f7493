//! The JSON Schema Test Suite: what it says of each value holds for the normal form, whatever draft
//! the schema is of.

use oracles::fetched;
use serde_json::{Value, json};
use toolwright::unstable::foreign::{TypeNames, input_schema};

const DRAFTS: [(&str, &str); 5] = [
    ("draft4", "http://json-schema.org/draft-04/schema#"),
    ("draft6", "http://json-schema.org/draft-06/schema#"),
    ("draft7", "http://json-schema.org/draft-07/schema#"),
    ("draft2019-09", "https://json-schema.org/draft/2019-09/schema"),
    ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
];

#[test]
fn the_test_suite_holds_for_the_normal_form() {
    let suite: Value =
        serde_json::from_str(&fetched::text("json-schema-suite.json").unwrap()).unwrap();
    let mut wrong = Vec::new();
    for (draft, meta) in DRAFTS {
        let (mut accepted, mut refused, mut values) = (0, 0, 0);
        for group in suite[draft].as_array().unwrap() {
            // What has an address of its own cannot be made a part of something else.
            if ["$id", "id"].iter().any(|it| group["schema"].get(it).is_some_and(Value::is_string))
            {
                continue;
            }
            let mut schema = group["schema"].clone();
            lower(&mut schema);
            let whole = json!({"$schema": meta, "type": "object", "properties": {"it": schema}});
            let arrived = match input_schema(&whole, TypeNames::JsonSchema) {
                Ok(arrived) => arrived,
                Err(problems) => {
                    refused += 1;
                    println!("{draft}: {}: {}", group["description"], problems[0]);
                    continue;
                }
            };
            accepted += 1;
            let validator = jsonschema::options().build(&arrived.schema).unwrap();
            for test in group["tests"].as_array().unwrap() {
                values += 1;
                if validator.is_valid(&json!({"it": test["data"]})) != test["valid"] {
                    wrong.push(format!(
                        "{draft}: {}: {}",
                        group["description"], test["description"]
                    ));
                }
            }
        }
        println!("{draft}: {accepted} schemas accepted, {refused} refused, {values} values");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Points references to the root at the property that it becomes.
fn lower(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            for (keyword, value) in object {
                match (keyword.as_str(), &mut *value) {
                    ("$ref" | "$recursiveRef" | "$dynamicRef", Value::String(reference)) => {
                        if let Some(rest) = reference.strip_prefix('#')
                            && (rest.is_empty() || rest.starts_with('/'))
                        {
                            *reference = format!("#/properties/it{rest}");
                        }
                    }
                    ("enum" | "const", _) => {}
                    _ => lower(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(lower),
        _ => {}
    }
}
