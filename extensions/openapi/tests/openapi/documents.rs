//! Documents: which are read, and what becomes of their operations.

use serde_json::json;

use toolwright::{Call, Executor, Registry};
use toolwright_openapi::OpenApi;

use crate::support::{Server, document, json};

/// S2.14 S2.32 S2.33 S2.52 S2.56 S2.63
#[tokio::test]
async fn a_document_becomes_tools_whose_calls_are_answered_by_its_server() {
    let server = Server::answering(|_| json(200, r#"{"id":7,"name":"Rex"}"#)).await;
    let paths = "
  /pets/{id}:
    get:
      operationId: showPet
      summary: Show one pet.
      tags: [pets]
      parameters:
        - {name: id, in: path, required: true, description: Which pet., schema: {type: integer}}
        - {name: fields, in: query, schema: {type: array, items: {type: string}}}
      responses:
        '200':
          description: The pet with its owner.
          content: {application/json: {schema: {type: object, required: [id], properties: {id: {type: integer}}}}}
";
    let api = OpenApi::load(document(&server.url, paths)).expect("a document");
    let executor = Executor::builder(Registry::empty()).with(api).build().expect("an executor");

    let definition = executor.registry().get("showPet").expect("it is a tool");
    assert_eq!(
        definition.description,
        "Show one pet.\n\nReturns: The pet with its owner.\n\n(GET /pets/{id} of Tests.)"
    );
    assert_eq!(definition.group.as_deref(), Some("pets"));
    assert_eq!(
        definition.input_schema,
        json!({
            "type": "object",
            "properties": {
                "id": {"type": "integer", "description": "Which pet."},
                "fields": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["id"],
            "additionalProperties": false,
        })
    );
    // It reads, so nobody is asked.
    let call = Call::new("showPet", r#"{"id":7,"fields":["name","a&b"]}"#);
    let answer = executor.call(&call).await;
    assert_eq!(answer.text(), r#"{"id":7,"name":"Rex"}"#);
    assert_eq!(answer.structured(), Some(json!({"id": 7, "name": "Rex"})));
    let arrived = server.last();
    assert_eq!(
        (arrived.method.as_str(), arrived.target.as_str()),
        ("GET", "/pets/7?fields=name&fields=a%26b")
    );

    // What the document does not describe never leaves.
    let answer = executor.call(&Call::new("showPet", r#"{"id":"seven"}"#)).await;
    assert_eq!(answer.error().expect("refused").kind(), "invalid_input");
    assert_eq!(server.arrived().len(), 1);
}
