//! No argument reaches beyond its place in a request.

use std::cell::Cell;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolwright_openapi::{OpenApi, Route, Routes};

use crate::support::{Arrived, Server, build, call, document, executor};

const PATHS: &str = "
  /a/{simple}/{label}/{matrix}/end:
    post:
      operationId: op
      parameters:
        - {name: simple, in: path, required: true, schema: {}}
        - {name: label, in: path, required: true, style: label, explode: true, schema: {}}
        - {name: matrix, in: path, required: true, style: matrix, schema: {}}
        - {name: form, in: query, schema: {}}
        - {name: free, in: query, allowReserved: true, schema: {}}
        - {name: bars, in: query, style: pipeDelimited, schema: {}}
        - {name: deep, in: query, style: deepObject, schema: {}}
        - {name: X-Head, in: header, schema: {}}
        - {name: cook, in: cookie, schema: {}}
      requestBody:
        content: {application/x-www-form-urlencoded: {schema: {type: object, properties: {field: {}}}}}
";

const ARGUMENTS: [&str; 10] =
    ["simple", "label", "matrix", "form", "free", "bars", "deep", "X-Head", "cook", "field"];

fn hostile() -> impl Strategy<Value = Value> {
    let parts = prop::sample::select(vec![
        "a",
        "..",
        ".",
        "/",
        "\\",
        "?",
        "#",
        "&",
        "=",
        "%2e",
        "%2F",
        "%",
        ";",
        ",",
        "[",
        "]",
        "\r\n",
        "\n",
        "\0",
        "@evil.example",
        "//evil.example",
        "http://evil.example",
        " ",
        "+",
        "é",
        "\u{202e}",
        ":",
        "bars",
        "cook",
        "|",
        "\"",
    ]);
    let text = prop::collection::vec(parts, 0..5).prop_map(|it| it.concat());
    prop_oneof![
        text.clone().prop_map(Value::from),
        prop::collection::vec(text.clone(), 0..3).prop_map(Value::from),
        prop::collection::vec((text.clone(), text), 0..3).prop_map(|it| Value::Object(
            it.into_iter().map(|(key, value)| (key, value.into())).collect()
        )),
    ]
}

/// What an HTTP server makes of a request: keys and values without their encoding.
fn pairs(text: &str) -> Vec<(String, String)> {
    let decoded =
        |it: &str| percent_encoding::percent_decode_str(it).decode_utf8_lossy().into_owned();
    let pairs = text.split('&').filter(|it| !it.is_empty());
    pairs
        .map(|it| it.split_once('=').unwrap_or((it, "")))
        .map(|(key, value)| (decoded(key), decoded(value)))
        .collect()
}

fn check(input: &Value, arrived: &Arrived) {
    let (path, query) = arrived.target.split_once('?').unwrap_or((&arrived.target, ""));
    let segments: Vec<&str> = path.split('/').collect();
    assert_eq!(segments.len(), 6, "another segment: {} by {input}", arrived.target);
    assert_eq!((segments[1], segments[5]), ("a", "end"), "{input}");
    // A server that decodes a path before it takes it apart is led nowhere else.
    let decoded = percent_encoding::percent_decode_str(path).decode_utf8_lossy();
    assert!(decoded.split(['/', '\\']).all(|it| !matches!(it, "." | "..")), "{path} by {input}");
    // An object whose fields are spread names its own keys; everything else has the key of its parameter.
    let spread: Vec<&String> = ["form", "free"]
        .iter()
        .filter_map(|it| input[*it].as_object())
        .flat_map(|it| it.keys())
        .collect();
    for (key, _) in pairs(query) {
        let own = ["form", "free", "bars"].contains(&key.as_str())
            || key == "deep"
            || key.starts_with("deep[");
        assert!(
            own || spread.contains(&&key),
            "another key `{key}`: {} by {input}",
            arrived.target
        );
    }
    let names: Vec<&str> = arrived.headers.iter().map(|(name, _)| name.as_str()).collect();
    let known =
        ["accept", "host", "user-agent", "content-type", "content-length", "cookie", "x-head"];
    assert!(names.iter().all(|it| known.contains(it)), "another header: {names:?} by {input}");
    let of_object = input["field"].as_object().is_some();
    let fields: Vec<String> = pairs(arrived.text()).into_iter().map(|(key, _)| key).collect();
    assert!(
        of_object || fields.iter().all(|it| it == "field"),
        "another field: {fields:?} by {input}"
    );
    for cookie in arrived.header("cookie").into_iter().flat_map(|it| it.split("; ")) {
        let name = cookie.split('=').next().unwrap_or_default();
        let own = input["cook"].as_object().is_some() || name == "cook";
        assert!(own, "another cookie: {cookie} by {input}");
    }
}

/// Fields of an object that are keys of their own are none of those that the path, a rule or another argument has.
#[tokio::test]
async fn no_object_takes_a_key_that_belongs_to_another() {
    const OPERATION: &str = "
  /a?action=list:
    get:
      operationId: op
      parameters:
        - {name: tenant, in: query, schema: {type: object}}
        - {name: deep, in: query, style: deepObject, schema: {type: object}}
        - {name: 'deep[own]', in: query, schema: {type: string}}
        - {name: free, in: query, schema: {type: object}}
        - {name: other, in: query, schema: {type: object}}
";
    let server = Server::start().await;
    let preset = Route::tool().operation("op").preset("tenant", json!({"of": 1}));
    let api = OpenApi::load(document(&server.url, OPERATION)).expect("a document");
    let executor = build(api.routes(Routes::new().route(preset)));
    for (input, field) in [
        (json!({"free": {"action": "drop"}}), "action"),
        (json!({"free": {"of": 2}}), "of"),
        (json!({"free": {"tenant[of]": 2}}), "tenant[of]"),
        (json!({"free": {"deep[a]": 2}}), "deep[a]"),
        (json!({"deep": {"own": 2}}), "own"),
        (json!({"free": {"x": 1}, "other": {"x": 2}}), "x"),
    ] {
        let answer = call(&executor, "op", input.clone()).await;
        let expected = format!("its field `{field}` has the name of another parameter");
        assert!(
            answer.is_error() && answer.text().contains(&expected),
            "{input}: {}",
            answer.text()
        );
    }
    assert_eq!(server.count(), 0);
    let input = json!({"free": {"x": 1}, "other": {"y": 2}, "deep": {"a": 3}});
    call(&executor, "op", input).await;
    assert_eq!(server.last().target, "/a?action=list&of=1&deep%5Ba%5D=3&x=1&y=2");
}

#[test]
fn no_argument_begins_another_segment_key_header_or_host() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let _entered = runtime.enter();
    let server = runtime.block_on(Server::start());
    let executor = executor(&document(&server.url, PATHS));
    let host = server.url.trim_start_matches("http://").to_owned();
    let (sent, refused) = (Cell::new(0), Cell::new(0));
    let inputs = prop::collection::vec(hostile(), ARGUMENTS.len());
    proptest!(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() }, |(values in inputs, plain in any::<u16>())| {
        let mut input = json!({});
        // Many a call has one hostile argument alone, so that it is sent.
        for (index, (name, value)) in ARGUMENTS.iter().zip(values).enumerate() {
            let is_hostile = plain & (1 << index) != 0 || usize::from(plain) % ARGUMENTS.len() == index;
            input[*name] = if is_hostile { value } else { json!("x") };
        }
        let before = server.count();
        let answer = runtime.block_on(call(&executor, "op", input.clone()));
        match server.get(before) {
            Some(arrived) => {
                sent.set(sent.get() + 1);
                prop_assert_eq!(arrived.header("host"), Some(host.as_str()));
                check(&input, &arrived);
            }
            None => {
                refused.set(refused.get() + 1);
                prop_assert_eq!(answer.error().expect("refused").kind(), "invalid_input");
            }
        }
    });
    let (sent, refused) = (sent.get(), refused.get());
    assert!(sent > 100 && refused > 10, "sent {sent}, refused {refused}");
}
