//! `toolwright openapi check`: what becomes of each operation of a document.

use super::{shown, toolwright};

const DOCUMENT: &str = r#"
openapi: 3.0.3
info: {title: Pets, version: "1"}
paths:
  /pets:
    get: {operationId: listPets}
    post: {operationId: addPet, requestBody: {content: {application/form-data: {schema: {properties: {name: {}}}}}}}
  /pets/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get: {operationId: "show\u202epet"}
    delete: {operationId: removePet}
  /admin/{id}:
    get: {}
"#;

const ROUTES: &str = r#"
[[route]]
methods = ["DELETE"]
to = "excluded"

[[route]]
operation = "listPets"
to = "deferred"
"#;

#[test]
fn each_operation_of_a_document_is_a_line_with_what_becomes_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (document, routes) = (file("pets.yaml", DOCUMENT), file("routes.toml", ROUTES));
    let ran = toolwright(&["openapi", "check", &document, "--routes", &routes], b"");
    insta::assert_snapshot!("check", shown(&ran));

    let unused = file("unused.toml", "[[route]]\npath = \"/cats\"\nto = \"tool\"");
    let ran = toolwright(&["openapi", "check", &document, "--routes", &unused], b"");
    insta::assert_snapshot!("unused_rule", shown(&ran));

    let swagger = file("swagger.json", r#"{"swagger": "2.0"}"#);
    let ran = toolwright(&["openapi", "check", &swagger], b"");
    insta::assert_snapshot!("swagger", shown(&ran));
}
