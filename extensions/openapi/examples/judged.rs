//! Calls that a second judge looks at (`extensions/openapi/against-openapi-core`): `judged document` prints a document with each style of
//! parameter and each form of body, `judged URL` calls every operation at a server that answers what it makes of the request.

use serde_json::{Value, json};
use toolwright::{Call, Executor, Registry};
use toolwright_openapi::OpenApi;

/// A way to write a value: where, its style, whether it explodes.
const STYLES: [(&str, &str, bool); 15] = [
    ("path", "simple", false),
    ("path", "simple", true),
    ("path", "label", false),
    ("path", "label", true),
    ("path", "matrix", false),
    ("path", "matrix", true),
    ("query", "form", false),
    ("query", "form", true),
    ("query", "spaceDelimited", false),
    ("query", "pipeDelimited", false),
    ("query", "deepObject", true),
    ("header", "simple", false),
    ("header", "simple", true),
    ("cookie", "form", false),
    ("cookie", "form", true),
];

const MEDIA_TYPES: [&str; 3] =
    ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"];

/// The schemas of values, and values of each. Those with characters that mean something to a URL go where they are decoded before
/// they are taken apart: not into a path.
fn kinds(place: &str, style: &str) -> Vec<(&'static str, Value, Vec<Value>)> {
    let mut texts = vec![json!("blue"), json!("x-1_2~3")];
    let mut lists = vec![json!(["blue"]), json!(["blue", "black", "brown"])];
    if place == "query" {
        texts.extend([json!("a b&c=d"), json!("é/?#[]@!$'()*+;%"), json!("")]);
        if style != "spaceDelimited" {
            lists.push(json!(["a/b", "c&d", "ü"]));
        }
    }
    let fields = json!({"type": "object", "properties": {"R": {"type": "integer"}, "G": {"type": "string"}}});
    vec![
        ("text", json!({"type": "string"}), texts),
        ("number", json!({"type": "integer"}), vec![json!(0), json!(-17)]),
        ("list", json!({"type": "array", "items": {"type": "string"}}), lists),
        ("fields", fields, vec![json!({"R": 100, "G": "green"})]),
    ]
}

/// Whether a style has a way to write this kind, and the judge one to read it: it does not put the fields of an object together that
/// are keys of their own.
fn is_judged(style: &str, explode: bool, kind: &str) -> bool {
    match style {
        "form" => !(explode && kind == "fields"),
        "deepObject" => kind == "fields",
        "spaceDelimited" | "pipeDelimited" => kind == "list",
        _ => true,
    }
}

/// An operation, its description, and the inputs with which it is called.
fn cases() -> Vec<(String, String, Value, Vec<Value>)> {
    let mut cases = Vec::new();
    for (place, style, explode) in STYLES {
        for (kind, schema, values) in kinds(place, style) {
            if !is_judged(style, explode, kind) {
                continue;
            }
            let id = format!("{place}_{style}_{explode}_{kind}");
            let path = if place == "path" { format!("/{id}/{{v}}") } else { format!("/{id}") };
            let parameter = json!({
                "name": "v", "in": place, "allowEmptyValue": place == "query", "style": style, "explode": explode, "required": true, "schema": schema,
            });
            let operation =
                json!({"operationId": id, "parameters": [parameter], "responses": responses()});
            let inputs = values.into_iter().map(|value| json!({"v": value})).collect();
            cases.push((path, "get".to_owned(), operation, inputs));
        }
    }
    for media_type in MEDIA_TYPES {
        let id = format!("body_{}", media_type.replace(['/', '-'], "_"));
        let mut properties = json!({"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}});
        let mut first = json!({"name": "a b&c=d", "tags": ["x", "y/z"]});
        if media_type != "multipart/form-data" {
            // The judge reads no numbers from parts.
            properties["count"] = json!({"type": "integer"});
            first["count"] = json!(3);
        }
        let schema = json!({"type": "object", "properties": properties, "required": ["name"]});
        let body = json!({"required": true, "content": {media_type: {"schema": schema}}});
        let operation = json!({"operationId": id, "requestBody": body, "responses": responses()});
        let inputs = vec![first, json!({"name": "é\"\r\n--x", "tags": ["z"]})];
        cases.push((format!("/{id}"), "post".to_owned(), operation, inputs));
    }
    cases
}

/// Whatever the judge answers.
fn responses() -> Value {
    json!({"default": {"description": "What arrived.", "content": {"application/json": {}}}})
}

fn document() -> Value {
    let mut paths = json!({});
    for (path, method, operation, _) in cases() {
        paths[path] = json!({method: operation});
    }
    let info = json!({"title": "Judged", "version": "1"});
    json!({"openapi": "3.0.3", "info": info, "servers": [{"url": "http://127.0.0.1"}], "paths": paths})
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let word = std::env::args().nth(1).ok_or("expected `document`, or the URL of a server")?;
    if word == "document" {
        println!("{}", document());
        return Ok(());
    }
    let api = OpenApi::load(document().to_string())?.server(word);
    let executor = Executor::builder(Registry::empty()).with(api).unrestricted().build()?;
    let (mut requests, mut differences) = (0, 0);
    for (_, _, operation, inputs) in cases() {
        let tool = operation["operationId"].as_str().unwrap_or_default().to_owned();
        for input in inputs {
            let answer = executor.call(&Call::new(&tool, input.to_string())).await;
            let found = answer.structured().unwrap_or_else(|| json!(answer.text()));
            requests += 1;
            if found != input {
                differences += 1;
                println!("{tool}: sent {input}, arrived {found}");
            }
        }
    }
    println!("{requests} requests, {differences} differences");
    if differences > 0 { Err("the second judge reads other values".into()) } else { Ok(()) }
}
