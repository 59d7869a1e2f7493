//! Rules: which operations become tools, and how.

use serde_json::json;
use toolwright::{Call, Danger, Effect, Executor, Exposure, Registry};
use toolwright_openapi::{OpenApi, Outcome, Route, Routes};

use crate::support::{Server, build, call, document};

const PATHS: &str = "
  /pets:
    get: {operationId: listPets, tags: [pets]}
    post: {operationId: addPet, tags: [pets]}
  /pets/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get: {operationId: showPet, tags: [pets]}
    delete: {operationId: removePet, tags: [pets], x-internal: true}
  /admin/users/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    put: {tags: [admin]}
";

fn api(server: &str, routes: &str) -> OpenApi {
    let routes = Routes::from_toml(routes).expect("rules");
    OpenApi::load(document(server, PATHS)).expect("a document").routes(routes)
}

fn planned(api: &OpenApi) -> Vec<String> {
    let planned = api.plan().expect("a plan").into_iter();
    let shown = planned.map(|it| match it.outcome {
        Outcome::Tool { name, effect, danger, exposure, .. } => {
            format!("{}: {name} {effect:?} {danger:?} {exposure:?}", it.operation)
        }
        Outcome::Refused(refusal) => format!("{}: {refusal}", it.operation),
        _ => format!("{}: excluded", it.operation),
    });
    shown.collect()
}

#[test]
fn without_rules_every_operation_is_a_tool_by_its_method() {
    assert_eq!(
        planned(&api("http://127.0.0.1:1", "")),
        [
            "PUT /admin/users/{id}: PUT_admin_users_id Idempotent Moderate Direct",
            "GET /pets: listPets Read Safe Direct",
            "POST /pets: addPet Once Moderate Direct",
            "DELETE /pets/{id}: removePet Idempotent Dangerous Direct",
            "GET /pets/{id}: showPet Read Safe Direct",
        ]
    );
}

#[test]
fn the_first_rule_that_matches_an_operation_counts() {
    let routes = r#"
        [[route]]
        extension = "x-internal"
        to = "excluded"
        [[route]]
        operation = "show*"
        to = "hidden"
        [[route]]
        methods = ["GET", "POST"]
        path = "/pets/**"
        tag = "pets"
        to = "tool"
        danger = "critical"
        [[route]]
        path = "/pets"
        methods = ["post"]
        to = "deferred"
        name = "adopt"
        [[route]]
        to = "tool"
        [[route]]
        to = "excluded"
    "#;
    let error = api("http://127.0.0.1:1", routes).plan().unwrap_err().to_string();
    assert_eq!(
        error,
        "rule 3 (GET,POST path `/pets/**` tag `pets`) counts for no operation: earlier rules apply to all operations \
         that it matches; correct it or leave it out"
    );
    let routes = routes.replace("/pets/**", "/pets*").replace(r#""GET", "POST""#, r#""GET""#);
    let error = api("http://127.0.0.1:1", &routes).plan().unwrap_err().to_string();
    assert!(error.starts_with("rule 6 (every operation) counts for no operation"), "{error}");
    let routes = routes.rsplit_once("[[route]]").expect("a last rule").0;
    assert_eq!(
        planned(&api("http://127.0.0.1:1", routes)),
        [
            "PUT /admin/users/{id}: PUT_admin_users_id Idempotent Moderate Direct",
            "GET /pets: listPets Read Critical Direct",
            "POST /pets: adopt Once Moderate Deferred",
            "DELETE /pets/{id}: excluded",
            "GET /pets/{id}: showPet Read Safe Hidden",
        ]
    );
}

#[test]
fn a_rule_for_a_path_matches_no_path_with_an_encoded_question_mark() {
    let paths = "  /pets: {get: {}}\n  /pets%3Fx/admin: {get: {}}\n  /pets%23x/%61: {get: {}}\n";
    let api = OpenApi::load(document("http://127.0.0.1:1", paths)).expect("a document");
    let routes = Routes::new()
        .route(Route::tool().path("/pets"))
        .route(Route::hidden().path("/pets%23x/a"))
        .route(Route::excluded());
    assert_eq!(
        planned(&api.routes(routes)),
        [
            "GET /pets: GET_pets Read Safe Direct",
            "GET /pets%23x/%61: GET_pets_23x_61 Read Safe Hidden",
            "GET /pets%3Fx/admin: excluded",
        ]
    );
}

#[test]
fn a_rule_that_cannot_be_followed_is_an_error() {
    for (rule, expected) in [
        (
            "path = \"/cats\"\nto = \"tool\"",
            "rule 1 (path `/cats`) counts for no operation: it matches none",
        ),
        (
            "tag = \"pets\"\nname = \"pet\"\nto = \"tool\"",
            "rule 1 names 4 operations `pet`, expected one, GET /pets and POST /pets among them",
        ),
        (
            "operation = \"showPet\"\narguments = {ident = 7}\nto = \"tool\"",
            "rule 1 gives `ident` a value, which GET /pets/{id} does not take; it takes `id`",
        ),
    ] {
        let error = api("http://127.0.0.1:1", &format!("[[route]]\n{rule}")).plan().unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
    }
    let error = Routes::from_toml("[[route]]\nto = \"tool\"\nmethod = \"GET\"").unwrap_err();
    assert!(error.to_string().contains("unknown field `method`"), "{error}");
    // The executor says it too.
    let api = api("http://127.0.0.1:1", "[[route]]\npath = \"/cats\"\nto = \"tool\"");
    let error = Executor::builder(Registry::empty()).with(api).build().unwrap_err();
    assert!(error.to_string().contains("counts for no operation"), "{error}");
}

#[tokio::test]
async fn a_rule_gives_arguments_that_a_model_neither_sees_nor_sets() {
    let server = Server::start().await;
    let rule = Route::tool().operation("showPet").preset("id", "rex").rename("show_rex");
    let rule = rule.description("Show Rex.");
    let api = api(&server.url, "").routes(Routes::new().route(rule));
    let executor = build(api);
    let definition = executor.registry().get("show_rex").expect("a tool");
    assert_eq!(definition.input_schema["properties"], json!({}));
    assert!(definition.description.starts_with("Show Rex."));
    assert!(call(&executor, "show_rex", json!({"id": "other"})).await.is_error());
    assert!(!call(&executor, "show_rex", json!({})).await.is_error());
    assert_eq!(server.last().target, "/pets/rex");
}

#[test]
fn a_rule_says_why_a_person_is_asked() {
    let rule = Route::tool().operation("showPet").approval("Rex is shy");
    let executor = build(api("http://127.0.0.1:1", "").routes(Routes::new().route(rule)));
    let facts = executor.examine(&Call::new("showPet", r#"{"id":"rex"}"#)).expect("a call");
    assert_eq!(facts.approval.as_deref(), Some("Rex is shy"));
}

#[test]
fn of_many_operations_a_model_searches_for_those_that_no_rule_shows() {
    let paths: String =
        (0..41).map(|it| format!("  /p{it:02}:\n    get: {{operationId: op{it:02}}}\n")).collect();
    let exposures = |routes| {
        let api = OpenApi::load(document("http://127.0.0.1:1", &paths))
            .expect("a document")
            .routes(routes);
        let planned = api.plan().expect("a plan").into_iter();
        let direct = planned
            .filter(|it| matches!(&it.outcome, Outcome::Tool { exposure: Exposure::Direct, .. }));
        direct.count()
    };
    assert_eq!(exposures(Routes::new()), 0);
    assert_eq!(exposures(Routes::new().route(Route::tool().path("/p0*"))), 10);
    assert_eq!(exposures(Routes::new().route(Route::excluded().path("/p00"))), 40);
}

#[test]
fn a_danger_of_a_rule_is_that_of_the_tool() {
    let rule = Route::tool().method("DELETE").danger(Danger::Critical);
    let api = api("http://127.0.0.1:1", "").routes(Routes::new().route(rule));
    let planned = api.plan().expect("a plan");
    let critical = planned.iter().filter(|it| {
        matches!(
            it.outcome,
            Outcome::Tool { danger: Danger::Critical, effect: Effect::Idempotent, .. }
        )
    });
    assert_eq!(critical.count(), 1);
}

#[test]
fn a_rule_looks_at_the_path_that_a_request_has() {
    let paths = "
  /%61dmin/keys: {get: {operationId: encoded}}
  '/admin/users#one': {get: {operationId: marked}}
  '/admin/log?all': {get: {operationId: queried}}
  /pets%2Fall: {get: {operationId: joined}}
  /pets/all: {get: {operationId: parted}}
";
    let rules = r#"
        [[route]]
        path = "/admin/*"
        to = "excluded"
        [[route]]
        path = "/pets/*"
        to = "tool"
        [[route]]
        to = "excluded"
    "#;
    let api = OpenApi::load(document("http://127.0.0.1:1", paths)).expect("a document");
    let shown = planned(&api.routes(Routes::from_toml(rules).expect("rules")));
    let tools: Vec<_> = shown.iter().filter(|it| !it.ends_with("excluded")).collect();
    // An encoded `/` parts no segments.
    assert_eq!(tools, ["GET /pets/all: parted Read Safe Direct"], "{shown:?}");

    let rules = r#"
        [[route]]
        path = "/admin/*"
        to = "excluded"
    "#;
    let api = OpenApi::load(document("http://127.0.0.1:1", paths)).expect("a document");
    let shown = planned(&api.routes(Routes::from_toml(rules).expect("rules")));
    let excluded = shown.iter().filter(|it| it.ends_with("excluded")).count();
    assert_eq!(excluded, 3, "{shown:?}");
}
