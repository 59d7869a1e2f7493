//! Documents: which are read, and what becomes of their operations.

use std::sync::{Arc, Mutex};

use serde_json::json;
use toolwright::approval::{ApprovalRequest, ApprovalService, ApproverKey, Callback, Response};
use toolwright::journal::{Journal, MemoryStore};
use toolwright::policy::{Policy, Rule};
use toolwright::{Call, DynamicTool, Effect, Executor, OnNoApprover, Registry};
use toolwright_openapi::{FixedCredentials, OpenApi, Outcome};

use crate::support::{HERE, Server, build, call, document, executor, json};

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
    let api = OpenApi::load(document(&server.url, paths)).expect("a document").permit(HERE);
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
    // It reads, so no person is asked.
    let call_of_pet = Call::new("showPet", r#"{"id":7,"fields":["name","a&b"]}"#);
    let answer = executor.call(&call_of_pet).await;
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

/// Counts the pets of a shop.
#[toolwright::tool(unlinked, effect = read, reads())]
async fn count_pets() -> u32 {
    2
}

/// S2.58
#[tokio::test]
async fn a_tool_of_a_document_stands_beside_others_under_one_policy() {
    let server = Server::start().await;
    let paths =
        "  /pets:\n    get: {operationId: listPets}\n    delete: {operationId: removePets}\n";
    let api = OpenApi::load(document(&server.url, paths)).expect("a document").permit(HERE);
    let plain =
        DynamicTool::new("name_pets", "Names pets.", json!({"type": "object"}), |_, _| async {
            Ok("Rex")
        });
    let policy = Policy::builder().rule(Rule::deny("pets stay").named("stay").tool("remove*"));
    let executor = Executor::builder(Registry::empty())
        .with(api)
        .tools([COUNT_PETS])
        .tools([plain.effect(Effect::Read)])
        .policy(policy);
    let executor = executor.build().expect("an executor");
    let calls = ["listPets", "count_pets", "name_pets", "removePets"].map(|it| Call::new(it, "{}"));
    let run = executor.run("shop").start().expect("a run");
    let turn = run.turn(1, &calls).await.expect("answers");
    let texts: Vec<String> = turn.answers()[..3].iter().map(|it| it.text().into_owned()).collect();
    assert_eq!(texts, ["{}", "2", "Rex"]);
    assert_eq!(turn.answers()[3].error().expect("denied").kind(), "denied");
    assert_eq!(server.arrived().len(), 1);
}

/// What becomes of the operations of a document: the name of each tool, or why it is none.
fn outcomes(text: &str) -> Vec<String> {
    let planned = OpenApi::load(text).expect("a document").plan().expect("there are no rules");
    let shown = planned.into_iter().map(|it| match it.outcome {
        Outcome::Tool { name, .. } => name,
        Outcome::Refused(refusal) => refusal.to_string(),
        other => format!("{other:?}"),
    });
    shown.collect()
}

fn input_of(text: &str) -> serde_json::Value {
    executor(text).registry().get("op").expect("a tool").input_schema.clone()
}

#[test]
fn what_is_no_document_says_what_it_is_and_what_is_expected() {
    for (text, expected) in [
        (
            r#"{"swagger":"2.0"}"#,
            "the document is of Swagger 2.0, expected OpenAPI 3.0, 3.1 or 3.2; convert it, for instance",
        ),
        (r#"{"openapi":"4.0.0","paths":{}}"#, "`openapi` is \"4.0.0\", expected 3.0, 3.1 or 3.2"),
        ("{}", "`openapi` is missing"),
        (r#"{"openapi":"3.1.0"}"#, "`paths` is missing, expected an object of paths"),
        (r#"{"openapi":"3.1.0","paths":[]}"#, "`paths` is a list"),
        ("a: [", "the document is neither JSON ("),
    ] {
        let error = OpenApi::load(text).expect_err("refused").to_string();
        assert!(error.starts_with(expected), "{text}: {error}");
    }
    let error = OpenApi::read("/nowhere/api.yaml").expect_err("refused").to_string();
    assert!(error.starts_with("/nowhere/api.yaml cannot be read: "), "{error}");
}

#[test]
fn a_bomb_of_aliases_is_refused_before_it_bursts() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let below = vec![format!("*a{}", level - 1); 9].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{below}]\n"));
    }
    let error = OpenApi::load(text).expect_err("refused").to_string();
    assert!(error.contains("nor YAML"), "{error}");
}

#[test]
fn keys_of_yaml_that_look_like_numbers_are_texts() {
    let text = document(
        "http://127.0.0.1:1",
        "  /a:\n    get: {operationId: op, responses: {200: {description: The pets.}}}\n",
    );
    let description = executor(&text).registry().get("op").expect("a tool").description.clone();
    assert_eq!(description, "Returns: The pets.\n\n(GET /a of Tests.)");
}

#[test]
fn references_lead_to_any_depth_or_are_refused_by_their_place() {
    let components = "
components:
  parameters:
    Limit: {$ref: '#/components/parameters/Most'}
    Most: {name: limit, in: query, schema: {$ref: '#/components/schemas/Count'}}
    Circle: {$ref: '#/components/parameters/Circle'}
  schemas:
    Count: {$ref: '#/paths/~1a~1%7Bx%7D/get/x-schema'}
";
    let of = |reference: &str| {
        let paths = format!(
            "  /a/{{x}}:\n    get: {{operationId: op, x-schema: {{type: integer, minimum: 1}}, parameters: [{{name: x, in: path, schema: {{}}}}, {{$ref: '{reference}'}}]}}\n"
        );
        document("http://127.0.0.1:1", &format!("{paths}{components}"))
    };
    let schema = input_of(&of("#/components/parameters/Limit"));
    assert_eq!(schema["properties"]["limit"], json!({"type": "integer", "minimum": 1}));
    for (reference, expected) in [
        (
            "#/components/parameters/Circle",
            "/components/parameters/Circle: its references lead in a circle",
        ),
        (
            "#/components/parameters/None",
            "/paths/~1a~1{x}/get/parameters/1/$ref: `#/components/parameters/None` leads to nothing",
        ),
        (
            "./common.yaml#/Limit",
            "/paths/~1a~1{x}/get/parameters/1/$ref: `./common.yaml#/Limit` leads to another document",
        ),
        (
            "https://a.example/b",
            "/paths/~1a~1{x}/get/parameters/1/$ref: `https://a.example/b` leads to another document",
        ),
    ] {
        let outcome = outcomes(&of(reference)).remove(0);
        assert!(outcome.starts_with(expected), "{outcome}");
    }
}

#[test]
fn references_lead_to_documents_that_were_added() {
    let main = document(
        "http://127.0.0.1:1",
        "  /a/{x}:\n    get: {operationId: op, parameters: [{$ref: './common/parameters.yaml#/X'}, {$ref: 'common/parameters.yaml#/Near~1By'}, {$ref: 'https://a.example/limit%20.json'}]}\n",
    );
    let parameters = "
X: {name: x, in: path, required: true, schema: {$ref: 'schemas.yaml#/X'}}
Near/By: {name: near, in: query, schema: {$ref: '#/Schema'}}
Schema: {type: array, items: {$ref: '../common/schemas.yaml#/Tree'}}
";
    let schemas = "{X: {type: integer, minimum: 7}, Tree: {type: object, properties: {below: {$ref: '#/Tree'}}}}";
    let limit = r#"{"name": "limit", "in": "query", "schema": {"type": "integer"}}"#;
    // The order in which they are added does not matter.
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0]] {
        let mut api = OpenApi::load(&main).unwrap();
        for index in order {
            let (uri, text) = [
                ("common/parameters.yaml", parameters),
                ("common/schemas.yaml", schemas),
                ("https://a.example/limit%20.json", limit),
            ][index];
            api = api.document(uri, text).unwrap();
        }
        let executor = Executor::builder(Registry::empty()).with(api).build().unwrap();
        let input = executor.registry().get("op").unwrap().input_schema.clone();
        let schema = serde_json::to_value(input).unwrap();
        assert_eq!(schema["properties"]["x"]["minimum"], json!(7), "{order:?}: {schema}");
        assert_eq!(schema["properties"]["limit"]["type"], json!("integer"), "{schema}");
        assert_eq!(schema["$defs"]["Tree"]["properties"]["below"], json!({"$ref": "#/$defs/Tree"}));
    }
}

#[test]
fn a_document_that_was_not_added_refuses_what_refers_to_it() {
    let main = document(
        "http://127.0.0.1:1",
        "  /a:\n    get: {operationId: op, parameters: [{$ref: 'a/parameters.yaml#/X'}]}\n  /b:\n    get: {operationId: works}\n",
    );
    let parameters = "X: {$ref: 'more.yaml#/X'}";
    let api = OpenApi::load(&main).unwrap().document("a/parameters.yaml", parameters).unwrap();
    let plan = api.plan().unwrap();
    let Outcome::Refused(refusal) = &plan[0].outcome else { panic!("{:?}", plan[0].outcome) };
    assert_eq!(
        refusal.to_string(),
        "/x-toolwright-documents/document:~1~1~1a~1parameters.yaml/X/$ref: `a/more.yaml#/X` leads to another document, \
         expected a place of this one; read that document and add it with `.document(uri, text)`"
    );
    assert!(matches!(plan[1].outcome, Outcome::Tool { .. }));
}

#[test]
fn a_document_is_added_by_one_uri_once() {
    let api = || OpenApi::load(document("http://127.0.0.1:1", "  /a:\n    get: {}\n")).unwrap();
    let added = api().document("a.yaml", "A: {}").unwrap();
    for (api, uri, text, expected) in [
        (
            added.clone(),
            "./a.yaml",
            "A: {}",
            "no document can be added as `./a.yaml`: a document was added under it before",
        ),
        (api(), "", "A: {}", "no document can be added as ``: it is empty"),
        (api(), "a.yaml#/A", "A: {}", "no document can be added as `a.yaml#/A`: it has a fragment"),
        (api(), "https://", "A: {}", "no document can be added as `https://`: empty host"),
        (api(), "a.yaml", "{", "the document is neither JSON"),
    ] {
        let error = api.document(uri, text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    // A clone of a bundle has what its original had, and not what was added since.
    assert!(added.document("b.yaml", "B: {}").is_ok());
}

#[test]
fn definitions_that_double_with_each_step_are_read_once_each() {
    let mut schemas = "components:\n  schemas:\n    S0: {type: string}\n".to_owned();
    for step in 1..=60 {
        let below = format!("{{$ref: '#/components/schemas/S{}'}}", step - 1);
        schemas.push_str(&format!(
            "    S{step}: {{type: object, properties: {{a: {below}, b: {below}}}}}\n"
        ));
    }
    let body = "requestBody: {content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/S60'}}}}}";
    let text = document(
        "http://127.0.0.1:1",
        &format!("  /a:\n    post: {{operationId: op, {body}}}\n{schemas}"),
    );
    // 2^60 places, 61 definitions.
    let definitions = input_of(&text)["$defs"].as_object().expect("definitions").len();
    assert!((40..=61).contains(&definitions), "{definitions}");
}

#[test]
fn recursive_schemas_and_fields_with_names_of_keywords_stay_what_they_are() {
    let tree = "{type: object, properties: {$id: {type: string}, $ref: {type: string}, type: {type: string}, nullable: {type: boolean}, \
                children: {type: array, items: {$ref: '#/components/schemas/Tree'}}}}";
    let body = "requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Tree'}}}}";
    let text = document(
        "http://127.0.0.1:1",
        &format!(
            "  /a:\n    post: {{operationId: op, {body}}}\ncomponents: {{schemas: {{Tree: {tree}}}}}"
        ),
    );
    let schema = input_of(&text);
    let names: Vec<&String> =
        schema["properties"].as_object().expect("properties").keys().collect();
    assert_eq!(names, ["children", "id", "nullable", "ref", "type"]);
    let within = &schema["$defs"]["Tree"]["properties"];
    assert_eq!(
        (&within["$id"], &within["$ref"]),
        (&json!({"type": "string"}), &json!({"type": "string"}))
    );
}

#[test]
fn what_openapi_says_in_its_own_words_is_said_in_those_of_json_schema() {
    let schemas = "
components:
  schemas:
    Base: {type: object, required: [kind], properties: {kind: {type: string}}, discriminator: {propertyName: kind}}
    Cat: {allOf: [{$ref: '#/components/schemas/Base'}, {properties: {lives: {type: integer}}}]}
    Dog: {allOf: [{$ref: '#/components/schemas/Base'}, {properties: {tricks: {type: integer}}}]}
    Pet:
      oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}]
      discriminator: {propertyName: kind, mapping: {cat: '#/components/schemas/Cat', dog: '#/components/schemas/Dog'}}
";
    let fields = "{pet: {$ref: '#/components/schemas/Pet'}, friend: {nullable: true, allOf: [{$ref: '#/components/schemas/Base'}]}, \
                  old: {type: integer, minimum: 0, exclusiveMinimum: true, nullable: true}}";
    let body = format!(
        "requestBody: {{required: true, content: {{application/json: {{schema: {{type: object, properties: {fields}}}}}}}}}"
    );
    let text = document(
        "http://127.0.0.1:1",
        &format!("  /a:\n    post: {{operationId: op, {body}}}\n{schemas}"),
    );
    let executor = executor(&text);
    let taken =
        |input: serde_json::Value| executor.examine(&Call::new("op", input.to_string())).is_ok();
    // Both alternatives take it, which `oneOf` would refuse.
    assert!(taken(json!({"pet": {"kind": "cat"}})));
    assert!(taken(json!({"friend": null, "old": null})));
    assert!(!taken(json!({"pet": {"lives": 9}})));
    assert!(!taken(json!({"old": 0})));
    let schema = &executor.registry().get("op").expect("a tool").input_schema;
    let shown = schema.to_string();
    assert!(shown.contains("`kind` says which it is: cat, dog."), "{shown}");
}

#[test]
fn what_cannot_be_a_tool_is_refused_by_its_place_and_the_rest_works() {
    let paths = "
  /a:
    get: {operationId: good}
    trace: {}
    additionalOperations: {CONNECT: {}}
    post: {requestBody: {content: {application/cbor: {schema: {properties: {a: {}}}}}}}
    put: {parameters: [{name: q, in: query, style: simple, schema: {}}]}
    patch: {parameters: [{name: q, in: query}, {name: q, in: query}]}
    head: {parameters: [{name: q, in: body}]}
    options: {security: [{missing: []}]}
    delete: {parameters: [{name: n, in: query, schema: {type: integer, minimum: 3, maximum: 2}}]}
  /b/{id}:
    get: {}
  /c{:
    get: {}
  /d/%2E%2e/e:
    get: {}
  /f:
    get: {parameters: [{name: X-HTTP-Method-Override, in: header, required: true, schema: {}}]}
  /g:
    get: {parameters: [{name: X_HTTP_Method_Override, in: header, required: true, schema: {}}]}
";
    let outcomes = outcomes(&document("http://127.0.0.1:1", paths));
    let expected = [
        "/paths/~1a/delete: its input has no schema: /properties/n",
        "good",
        "/paths/~1a/head/parameters/0: `in` of the parameter `q` is \"body\", expected path, query, header or cookie",
        "/paths/~1a/options/security/0/missing: `missing` is not one of the document's `securitySchemes`",
        "/paths/~1a/patch/parameters/1: the parameter `q` is listed twice",
        "/paths/~1a/post/requestBody/content/application~1cbor: fields cannot be written as `application/cbor`",
        "/paths/~1a/put/parameters/0: the style `simple` of the parameter `q` is not a style for a query",
        "/paths/~1a/trace: TRACE is a method for a connection, and no tool",
        "/paths/~1a/additionalOperations/CONNECT: CONNECT is a method for a connection, and no tool",
        "/paths/~1b~1{id}/get: the path has `{id}`, which is none of its parameters",
        "/paths/~1c{/get: `c{` has a `{` that nothing closes",
        "/paths/~1d~1%2E%2e~1e/get: `%2E%2e` in the path leads to another, expected names",
        "/paths/~1f/get/parameters/0: the header `X-HTTP-Method-Override` would change the meaning of the request",
        "/paths/~1g/get/parameters/0: the header `X_HTTP_Method_Override` would change the meaning of the request",
    ];
    assert_eq!(outcomes.len(), expected.len(), "{outcomes:#?}");
    for (outcome, expected) in outcomes.iter().zip(expected) {
        assert!(outcome.starts_with(expected), "{outcome}");
    }
}

#[test]
fn a_header_that_makes_another_request_of_it_is_no_argument() {
    let headers = [
        "X-Http-Method-Override",
        "X_HTTP_Method_Override",
        "X-Original-URL",
        "x-forwarded-host",
        "X_Forwarded_Method",
        "X-Original-Host",
        "Forwarded",
        "X-Own",
    ];
    let parameters =
        headers.map(|it| format!("{{name: {it}, in: header, schema: {{type: string}}}}"));
    let paths =
        format!("  /a: {{get: {{operationId: op, parameters: [{}]}}}}\n", parameters.join(", "));
    let executor = executor(&document("http://127.0.0.1:1", &paths));
    let schema = &executor.registry().get("op").expect("a tool").input_schema;
    let names: Vec<&String> = schema["properties"].as_object().expect("arguments").keys().collect();
    assert_eq!(names, ["X-Own"]);
}

#[test]
fn operations_of_one_id_and_ids_of_any_characters_have_names_of_their_own() {
    let paths = "
  /a: {get: {operationId: pets/list}, post: {operationId: pets/list}}
  /b: {get: {operationId: 'pets list'}, put: {operationId: 日本}, post: {operationId: '7'}}
";
    let names = outcomes(&document("http://127.0.0.1:1", paths));
    assert_eq!(names, ["pets_list", "pets_list_2", "pets_list_3", "_7", "_"]);
}

#[test]
fn a_server_that_cannot_be_called_is_reported_when_the_executor_is_built() {
    let refused = |api: OpenApi| {
        let built = Executor::builder(Registry::empty()).with(api).build();
        built.err().map(|it| it.to_string()).unwrap_or_default()
    };
    let of =
        |server: &str| OpenApi::load(document(server, "  /a: {get: {}}\n")).expect("a document");
    for (server, expected) in [
        ("/v1", "`/v1` is not a URL with a host"),
        ("ftp://a.example", "`ftp://a.example` is not HTTP"),
        ("http://ada:pw@a.example", "the server's URL has a user in it"),
        ("http://{region}.example", "has variables that are not described"),
        ("http://a.example?x=1", "has more than a path in it"),
    ] {
        let error = refused(of(server));
        assert!(error.contains(expected), "{server}: {error}");
        assert_eq!(refused(of(server).server("http://127.0.0.1:1/v1")), "");
    }
}

#[tokio::test]
async fn a_server_has_variables_and_operations_may_have_servers_of_their_own() {
    let server = Server::start().await;
    let port = server.url.rsplit(':').next().expect("a port");
    let servers = "servers: [{url: 'http://127.0.0.1:{port}/{version}/', variables: {port: {default: '1'}, version: {default: v1, enum: [v1, v2]}}}]";
    let paths = format!(
        "paths:\n  /a: {{get: {{operationId: a}}}}\n  /b: {{servers: [{{url: '{}/own'}}], get: {{operationId: b}}}}\n",
        server.url
    );
    let text = format!("openapi: 3.0.0\ninfo: {{title: T, version: '1'}}\n{servers}\n{paths}");
    let api = OpenApi::load(&text).expect("a document").variable("port", port);
    let executor = build(api.clone().variable("version", "v2"));
    for (tool, target) in [("a", "/v2/a"), ("b", "/own/b")] {
        assert!(!call(&executor, tool, json!({})).await.is_error());
        assert_eq!(server.last().target, target);
    }
    let error = Executor::builder(Registry::empty()).with(api.variable("version", "v3")).build();
    assert!(error.expect_err("refused").to_string().contains(r#"`v3` is not one of ["v1","v2"]"#));
}

#[tokio::test]
async fn a_person_who_approves_reads_the_request_and_no_credential() {
    let server = Server::start().await;
    let body = "requestBody: {content: {application/json: {schema: {type: object, properties: {name: {type: string}}}}}}";
    let query = "parameters: [{name: q, in: query, schema: {type: string}}]";
    let schemes = "components: {securitySchemes: {key: {type: http, scheme: bearer}}}";
    let paths = format!(
        "  /a:\n    post: {{operationId: op, security: [{{key: []}}], {query}, {body}}}\n{schemes}\n"
    );
    let api = OpenApi::load(document(&server.url, &paths)).expect("a document").permit(HERE);
    let api = api.credentials(FixedCredentials::new().token("key", "s3cr3t-token"));
    let shown = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&shown);
    let approver = Callback::new(move |request: &ApprovalRequest| {
        *seen.lock().expect("no holder panics") = request.preview.clone();
        Response::Approve
    });
    let executor = Executor::builder(Registry::empty()).with(api).ask(approver).build();
    let executor = executor.expect("an executor");
    let call = Call::new("op", r#"{"name":"Rex","q":"a b"}"#);
    let facts = executor.examine(&call).expect("a call");
    let touched = facts.touches().expect("named").resources_written().expect("named");
    assert_eq!((touched[0].kind(), touched[0].name()), ("api", Some(&*format!("{}/", server.url))));

    assert!(!executor.call(&call).await.is_error());
    let preview = shown.lock().expect("no holder panics").take().expect("the person was asked");
    assert_eq!(
        preview,
        format!(
            "POST {}/a?q=a%20b\naccept: application/json, */*;q=0.5\ncontent-type: application/json\n\n{{\"name\":\"Rex\"}}",
            server.url
        )
    );
    assert_eq!(server.last().header("authorization"), Some("Bearer s3cr3t-token"));
}

#[tokio::test]
async fn an_approval_counts_for_the_server_and_the_request_that_the_person_read() {
    let (server, other) = (Server::start().await, Server::start().await);
    let order = |server: &str, place: &str| {
        let parameter = format!("{{name: item, in: {place}, schema: {{type: string}}}}");
        let paths = format!("  /a:\n    post: {{operationId: order, parameters: [{parameter}]}}\n");
        OpenApi::load(document(server, &paths)).expect("a document").permit(HERE)
    };
    let key = ApproverKey::generate("ada").expect("a key");
    for (changed, is_run) in [
        (order(&server.url, "query"), true),
        (order(&other.url, "query"), false),
        (order(&server.url, "header"), false),
    ] {
        let store = Arc::new(MemoryStore::new());
        let process = |api: OpenApi| {
            let journal = Journal::shared(Arc::clone(&store) as _).trust("ada", key.public());
            let journal = journal.on_no_approver(OnNoApprover::Park);
            let executor = Executor::builder(Registry::empty()).with(api).journal(journal);
            executor.build().expect("an executor")
        };
        let call = Call::new("order", r#"{"item":"tea"}"#);
        let submitted = process(order(&server.url, "query")).submit(&call).await;
        let toolwright::Outcome::Suspended(waits) = submitted else { panic!("{submitted:?}") };
        ApprovalService::new(Arc::clone(&store) as _)
            .approve(waits.call, &key)
            .await
            .expect("approved");
        let before = (server.count(), other.count());
        let worker = process(changed).worker().expect("a journal");
        let resumed = worker.resume(waits.call).await;
        assert_eq!(matches!(resumed, toolwright::Outcome::Answered(_)), is_run, "{resumed:?}");
        let sent = (server.count() - before.0, other.count() - before.1);
        assert_eq!(sent, (usize::from(is_run), 0));
    }
}
