//! What arrives at a server, by the place and the style of each argument.

use serde_json::{Value, json};

use crate::support::{Arrived, Server, call, document, executor};

/// The request that a call makes of an operation with these parameters and this body, in YAML of one line each.
async fn sent(operation: &str, input: Value) -> Result<Arrived, String> {
    let server = Server::start().await;
    let answer = call(&executor(&document(&server.url, operation)), "op", input).await;
    match answer.error() {
        Some(error) => Err(error.to_string()),
        None => Ok(server.last()),
    }
}

fn at(path: &str, method: &str, rest: &str) -> String {
    format!("  {path}:\n    {method}:\n      operationId: op\n{rest}")
}

fn parameter(place: &str, more: &str) -> String {
    let path = if place == "path" { "/p/{v}" } else { "/p" };
    let declared = format!("{{name: v, in: {place}, required: true, schema: {{}}{more}}}");
    at(path, "get", &format!("      parameters: [{declared}]\n"))
}

#[tokio::test]
async fn a_parameter_is_written_in_its_style() {
    let [one, list, fields] = [json!("a b"), json!(["x", "y/z"]), json!({"R": 100, "G": "2,0"})];
    for (place, more, value, expected) in [
        ("path", "", &one, "/p/a%20b"),
        ("path", "", &list, "/p/x,y%2Fz"),
        ("path", "", &fields, "/p/G,2%2C0,R,100"),
        ("path", ", explode: true", &fields, "/p/G=2%2C0,R=100"),
        ("path", ", style: label", &one, "/p/.a%20b"),
        ("path", ", style: label", &list, "/p/.x,y%2Fz"),
        ("path", ", style: label, explode: true", &list, "/p/.x.y%2Fz"),
        ("path", ", style: label, explode: true", &fields, "/p/.G=2%2C0.R=100"),
        ("path", ", style: matrix", &one, "/p/;v=a%20b"),
        ("path", ", style: matrix", &list, "/p/;v=x,y%2Fz"),
        ("path", ", style: matrix, explode: true", &list, "/p/;v=x;v=y%2Fz"),
        ("path", ", style: matrix", &fields, "/p/;v=G,2%2C0,R,100"),
        ("path", ", style: matrix, explode: true", &fields, "/p/;G=2%2C0;R=100"),
        ("query", "", &one, "/p?v=a%20b"),
        ("query", "", &list, "/p?v=x&v=y%2Fz"),
        ("query", "", &fields, "/p?G=2%2C0&R=100"),
        ("query", ", explode: false", &list, "/p?v=x,y%2Fz"),
        ("query", ", explode: false", &fields, "/p?v=G,2%2C0,R,100"),
        ("query", ", allowReserved: true", &json!("a/b?c&d=e"), "/p?v=a/b?c%26d%3De"),
        ("query", ", style: spaceDelimited", &list, "/p?v=x%20y%2Fz"),
        ("query", ", style: pipeDelimited", &list, "/p?v=x%7Cy%2Fz"),
        ("query", ", style: pipeDelimited, explode: true", &list, "/p?v=x&v=y%2Fz"),
        ("query", ", style: deepObject", &fields, "/p?v%5BG%5D=2%2C0&v%5BR%5D=100"),
        (
            "query",
            ", style: deepObject",
            &json!({"a": {"b": [1, true]}}),
            "/p?v%5Ba%5D%5Bb%5D%5B0%5D=1&v%5Ba%5D%5Bb%5D%5B1%5D=true",
        ),
    ] {
        let arrived = sent(&parameter(place, more), json!({"v": value})).await;
        assert_eq!(arrived.map(|it| it.target).as_deref(), Ok(expected), "{place}{more} {value}");
    }
    for (place, more, value, name, expected) in [
        ("header", "", &one, "v", "a b"),
        ("header", "", &list, "v", "x,y/z"),
        ("header", ", explode: true", &json!({"R": 1, "G": 2}), "v", "G=2,R=1"),
        ("cookie", "", &one, "cookie", "v=a%20b"),
        ("cookie", ", explode: false", &list, "cookie", "v=x,y%2Fz"),
    ] {
        let arrived = sent(&parameter(place, more), json!({"v": value})).await.expect("sent");
        assert_eq!(arrived.header(name), Some(expected), "{place}{more} {value}");
    }
    let content = "{name: v, in: query, content: {application/json: {schema: {}}}}";
    let operation = at("/p", "get", &format!("      parameters: [{content}]\n"));
    let arrived = sent(&operation, json!({"v": {"a": [1]}})).await.expect("sent");
    assert_eq!(arrived.target, "/p?v=%7B%22a%22%3A%5B1%5D%7D");
}

#[tokio::test]
async fn what_a_style_has_no_way_to_write_is_refused_before_anything_is_sent() {
    for (place, value) in [
        ("query", json!([[1]])),
        ("path", json!({"a": {"b": 1}})),
        ("path", json!("")),
        ("path", json!("..")),
        ("header", json!(["a,b"])),
        ("header", json!("a\r\nb: c")),
        ("header", json!("é")),
    ] {
        let refused = sent(&parameter(place, ""), json!({"v": value})).await.expect_err("refused");
        assert!(refused.contains("`v`") || refused.contains("path"), "{place} {value}: {refused}");
    }
}

fn body(content: &str) -> String {
    at("/b", "post", &format!("      requestBody: {{required: true, content: {{{content}}}}}\n"))
}

#[tokio::test]
async fn fields_of_a_body_stand_beside_the_parameters() {
    let schema = "{type: object, required: [name], properties: {name: {type: string}, id: {type: integer, readOnly: true}, \
                  $id: {type: string}, note: {type: string, nullable: true}}}";
    let operation = body(&format!("application/json: {{schema: {schema}}}"));
    let arrived = sent(&operation, json!({"name": "Rex", "note": null, "id_2": 1})).await;
    assert!(arrived.expect_err("refused").contains("id_2"));
    // `$id` is no name of an argument that providers take.
    let arrived =
        sent(&operation, json!({"name": "Rex", "note": null, "id": "x"})).await.expect("sent");
    assert_eq!(arrived.text(), r#"{"$id":"x","name":"Rex","note":null}"#);
    assert_eq!(arrived.header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn a_required_body_is_sent_even_if_no_field_is_given() {
    let schema = "{type: object, properties: {note: {type: string}}}";
    let required = body(&format!("application/json: {{schema: {schema}}}"));
    let arrived = sent(&required, json!({})).await.expect("sent");
    assert_eq!((arrived.text(), arrived.header("content-type")), ("{}", Some("application/json")));
    let optional = required.replace("required: true", "required: false");
    let arrived = sent(&optional, json!({})).await.expect("sent");
    assert_eq!((arrived.text(), arrived.header("content-type")), ("", None));
}

#[tokio::test]
async fn a_body_whose_field_has_the_name_of_a_parameter_is_one_argument() {
    let operation = "  /b/{id}:\n    put:\n      operationId: op
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {type: object, properties: {id: {type: string}}}}}}\n";
    let input = json!({"id": "one", "body": {"id": "two"}});
    let arrived = sent(operation, input).await.expect("sent");
    assert_eq!((arrived.target.as_str(), arrived.text()), ("/b/one", r#"{"id":"two"}"#));
    // It need not be there.
    let arrived = sent(operation, json!({"id": "one"})).await.expect("sent");
    assert_eq!((arrived.text(), arrived.header("content-type")), ("", None));
}

#[tokio::test]
async fn a_dictionary_a_list_and_a_choice_are_bodies_as_they_are() {
    for (schema, value) in [
        ("{type: object, additionalProperties: {type: integer}}", json!({"a": 1})),
        ("{type: array, items: {type: integer}}", json!([1, 2])),
        ("{oneOf: [{type: string}, {type: 'null'}]}", json!("x")),
        ("{}", json!({"whatever": true})),
    ] {
        let operation = body(&format!("application/json: {{schema: {schema}}}"));
        let arrived = sent(&operation, json!({"body": value})).await.expect("sent");
        assert_eq!(arrived.text(), value.to_string(), "{schema}");
    }
}

#[tokio::test]
async fn parameters_of_one_name_are_told_apart_by_their_places() {
    let operation = "  /b/{id}:\n    get:\n      operationId: op
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}}
        - {name: id, in: query, schema: {type: string}}\n";
    let arrived = sent(operation, json!({"path_id": "a", "query_id": "b"})).await.expect("sent");
    assert_eq!(arrived.target, "/b/a?id=b");
}

#[tokio::test]
async fn the_parameters_of_a_path_hold_unless_the_operation_has_its_own() {
    let operation = "  /b/{id}:
    parameters:
      - {name: id, in: path, required: true, schema: {type: string}}
      - {name: depth, in: query, schema: {type: string}}
    get:
      operationId: op
      parameters: [{name: depth, in: query, schema: {type: integer}}]\n";
    let arrived = sent(operation, json!({"id": "a", "depth": 3})).await.expect("sent");
    assert_eq!(arrived.target, "/b/a?depth=3");
    assert!(sent(operation, json!({"id": "a", "depth": "x"})).await.is_err());
}

#[tokio::test]
async fn a_form_is_written_with_brackets_where_its_document_says_so() {
    let schema = "{type: object, properties: {name: {type: string}, tags: {type: array, items: {type: string}}, \
                  metadata: {type: object, additionalProperties: {type: string}}, other: {type: object}}}";
    let encoding = "{metadata: {style: deepObject, explode: true}}";
    let operation = body(&format!(
        "application/x-www-form-urlencoded: {{schema: {schema}, encoding: {encoding}}}"
    ));
    let input =
        json!({"name": "a&b", "tags": ["x", "y"], "metadata": {"k 1": "v"}, "other": {"z": 1}});
    let arrived = sent(&operation, input).await.expect("sent");
    assert_eq!(
        arrived.text(),
        "metadata%5Bk%201%5D=v&name=a%26b&other=%7B%22z%22%3A1%7D&tags=x&tags=y"
    );
    assert_eq!(arrived.header("content-type"), Some("application/x-www-form-urlencoded"));
}

#[tokio::test]
async fn a_multipart_body_has_a_part_for_each_field_and_bytes_of_base64() {
    let schema = "{type: object, properties: {'a\"b': {type: string}, file: {type: string, format: binary}, meta: {type: object}}}";
    let operation = body(&format!("multipart/form-data: {{schema: {schema}}}"));
    let input =
        json!({"a_b": "x\r\n--toolwright-0000000000000000", "file": "AAEC/w==", "meta": {"k": 1}});
    let arrived = sent(&operation, input).await.expect("sent");
    let kind = arrived.header("content-type").expect("a type");
    let boundary = kind.strip_prefix("multipart/form-data; boundary=").expect("a boundary");
    // A text that holds the boundary gets another one.
    assert_eq!(boundary, "toolwright-0000000000000001");
    let body = String::from_utf8_lossy(&arrived.body);
    let parts: Vec<&str> = body.split(&format!("--{boundary}")).collect();
    assert_eq!(
        parts[1],
        "\r\nContent-Disposition: form-data; name=\"a%22b\"\r\n\r\nx\r\n--toolwright-0000000000000000\r\n"
    );
    assert!(parts[2].starts_with(
        "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"file\"\r\nContent-Type: application/octet-stream\r\n\r\n"
    ));
    assert!(arrived.body.windows(4).any(|it| it == [0, 1, 2, 255]));
    assert!(parts[3].ends_with("Content-Type: application/json\r\n\r\n{\"k\":1}\r\n"));
    assert_eq!(parts[4], "--\r\n");
}

#[tokio::test]
async fn texts_and_bytes_are_bodies_of_their_own_type() {
    let arrived =
        sent(&body("text/plain: {schema: {type: string}}"), json!({"body": "hi\n"})).await;
    let arrived = arrived.expect("sent");
    assert_eq!((arrived.text(), arrived.header("content-type")), ("hi\n", Some("text/plain")));
    let operation = body("application/zip: {}");
    let arrived = sent(&operation, json!({"body": "UEsD"})).await.expect("sent");
    assert_eq!(
        (arrived.text(), arrived.header("content-type")),
        ("PK\u{3}", Some("application/zip"))
    );
    let refused = sent(&operation, json!({"body": "%"})).await.expect_err("refused");
    assert!(refused.contains("it is not base64"), "{refused}");
}

#[tokio::test]
async fn a_header_for_repeated_requests_gets_the_key_of_the_call() {
    let operation = at(
        "/pay",
        "post",
        "      parameters: [{name: Idempotency-Key, in: header, required: true, schema: {type: string}}]\n",
    );
    let server = Server::start().await;
    let executor = executor(&document(&server.url, &operation));
    let definition = executor.registry().get("op").expect("a tool");
    assert_eq!(definition.effect, toolwright::Effect::Keyed);
    assert_eq!(definition.input_schema["properties"], json!({}));
    assert!(!call(&executor, "op", json!({})).await.is_error());
    assert_eq!(server.last().header("idempotency-key").map(str::len), Some(36));
}
