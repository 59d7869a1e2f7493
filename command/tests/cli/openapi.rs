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

/// A server that answers each request with what it was asked for, and its address.
fn echo() -> String {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let read = stream.read(&mut request).unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..read]);
            let body = request.lines().next().unwrap_or_default();
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\n\r\n{body}"
            );
        }
    });
    url
}

#[test]
fn a_call_passes_the_policy_and_a_dry_run_shows_the_request_without_sending_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let server = echo();
    let document = file("pets.yaml", DOCUMENT);
    let allowed = "version = 1\n[[allow]]\nname = \"pets\"\nreason = \"they are ours\"\ntool = \"removePet\"\n";
    let denied = "version = 1\n[[deny]]\nname = \"pets\"\nreason = \"they are not ours\"\ntool = \"removePet\"\n";
    let (allowed, denied) = (file("allow.toml", allowed), file("deny.toml", denied));
    let call = |tool: &str, input: &str, more: &[&str]| {
        let fixed = ["openapi", "call", &*document, tool, input, "--server", &*server];
        toolwright(&[&fixed[..], more].concat(), b"")
    };
    let read = call("listPets", "{}", &[]);
    assert_eq!((read.code, read.out.trim()), (0, "GET /pets HTTP/1.1"), "{}", read.err);
    let pet = r#"{"id":"rex"}"#;
    let unasked = call("removePet", pet, &[]);
    assert_eq!((unasked.code, unasked.out.as_str()), (1, ""), "no person is at the terminal");
    let removed = call("removePet", pet, &["--policy", &allowed]);
    assert_eq!(
        (removed.code, removed.out.trim()),
        (0, "DELETE /pets/rex HTTP/1.1"),
        "{}",
        removed.err
    );
    let shown = call("removePet", pet, &["--policy", &allowed, "--dry-run"]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    assert!(shown.out.starts_with(&format!("DELETE {server}/pets/rex\n")), "{}", shown.out);
    for dry_run in [&[][..], &["--dry-run"]] {
        let refused = call("removePet", pet, &[&["--policy", &*denied], dry_run].concat());
        assert_eq!((refused.code, refused.out.as_str()), (1, ""));
        assert!(refused.err.contains("they are not ours"), "{}", refused.err);
    }
    let wrong = call("removePet", "{}", &["--dry-run"]);
    assert!(wrong.code == 1 && wrong.err.contains("invalid_input"), "{}", wrong.err);
}
