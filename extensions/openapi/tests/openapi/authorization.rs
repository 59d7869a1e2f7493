//! Credentials: where they go, and that nothing else has them.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use serde_json::json;
use toolwright::{Executor, Registry, ToolContext, ToolError};
use toolwright_openapi::{
    Credential, Credentials, FixedCredentials, OAuthCredentials, OpenApi, SecurityScheme,
};

use crate::support::{HERE, Server, build, call, document, json, response};

const SCHEMES: &str = "
components:
  securitySchemes:
    in_header: {type: apiKey, in: header, name: X-Key}
    in_query: {type: apiKey, in: query, name: key}
    in_cookie: {type: apiKey, in: cookie, name: session}
    user: {type: http, scheme: basic}
    bearer: {type: http, scheme: bearer}
    login: {type: oauth2, flows: {clientCredentials: {tokenUrl: 'https://a.example/token', scopes: {}}}}
    certificate: {type: mutualTLS}
";

const SECRET: &str = "s3cr3t-token";

fn requiring(server: &str, security: &str) -> String {
    let parameters = "[{name: session_2, in: cookie, schema: {type: string}}, {name: x-key, in: header, required: true, schema: {type: string}}]";
    let paths = format!(
        "  /a:\n    get:\n      operationId: op\n      security: {security}\n      parameters: {parameters}\n"
    );
    let paths =
        if security.contains("in_header") { paths } else { paths.replace(", required: true", "") };
    document(server, &format!("{paths}{SCHEMES}"))
}

fn all() -> FixedCredentials {
    let tokens = ["in_header", "in_query", "in_cookie", "bearer", "login"];
    let all = tokens.into_iter().fold(FixedCredentials::new(), |all, it| all.token(it, SECRET));
    all.basic("user", "ada", "pa55word")
}

#[tokio::test]
async fn each_scheme_has_its_place_in_the_request() {
    for (security, name, expected) in [
        ("[{in_header: []}]", "x-key", SECRET),
        ("[{in_cookie: []}]", "cookie", "session_2=x; session=s3cr3t-token"),
        ("[{user: []}]", "authorization", "Basic YWRhOnBhNTV3b3Jk"),
        ("[{bearer: []}]", "authorization", "Bearer s3cr3t-token"),
        ("[{login: [read]}]", "authorization", "Bearer s3cr3t-token"),
        // What needs no authorization is asked with one where there is one.
        ("[{}, {bearer: []}]", "authorization", "Bearer s3cr3t-token"),
        (
            "[{certificate: []}, {in_header: [], bearer: []}]",
            "authorization",
            "Bearer s3cr3t-token",
        ),
    ] {
        let server = Server::start().await;
        let api = OpenApi::load(requiring(&server.url, security)).expect("a document");
        let answer = call(&build(api.credentials(all())), "op", json!({"session_2": "x"})).await;
        assert!(!answer.is_error(), "{security}: {}", answer.text());
        assert_eq!(server.last().header(name), Some(expected), "{security}");
    }
    let server = Server::start().await;
    let api = OpenApi::load(requiring(&server.url, "[{in_query: []}]")).expect("a document");
    call(&build(api.credentials(all())), "op", json!({})).await;
    assert_eq!(server.last().target, "/a?key=s3cr3t-token");
}

#[tokio::test]
async fn a_parameter_that_is_a_credential_is_no_argument() {
    let server = Server::start().await;
    let api = OpenApi::load(requiring(&server.url, "[{in_header: []}]")).expect("a document");
    let executor = build(api.credentials(all()));
    let definition = executor.registry().get("op").expect("a tool");
    assert!(definition.input_schema["properties"].get("x-key").is_none());
    assert!(call(&executor, "op", json!({"x-key": "mine"})).await.is_error());
    assert!(server.arrived().is_empty());
}

#[tokio::test]
async fn no_answer_and_no_error_shows_a_credential() {
    for status in [200, 500] {
        let server = Server::answering(move |arrived| {
            let key = arrived.header("authorization").unwrap_or_default();
            json(status, &format!(r#"{{"message":"you sent {key}"}}"#))
        });
        let server = server.await;
        let api = OpenApi::load(requiring(&server.url, "[{bearer: []}]")).expect("a document");
        let answer = call(&build(api.credentials(all())), "op", json!({})).await;
        let metadata = answer.metadata();
        let shown = format!("{} {:?} {metadata:?}", answer.text(), answer.structured());
        assert!(shown.contains("you sent Bearer [key]"), "{shown}");
        assert!(!shown.contains(SECRET), "{shown}");
    }
}

/// Some APIs take their key as the user.
#[tokio::test]
async fn a_key_that_is_a_user_without_a_password_is_hidden_plain_and_encoded() {
    let encoded = "a2V5LW9mLXRoZS1zaG9wOg==";
    let server = Server::answering(move |arrived| {
        assert_eq!(arrived.header("authorization"), Some(format!("Basic {encoded}").as_str()));
        json(200, &format!(r#"{{"invalid":"key-of-the-shop","sent":"{encoded}"}}"#))
    });
    let server = server.await;
    let api = OpenApi::load(requiring(&server.url, "[{user: []}]")).expect("a document");
    let credentials = FixedCredentials::new().basic("user", "key-of-the-shop", "");
    let answer = call(&build(api.credentials(credentials)), "op", json!({})).await;
    let shown = format!("{} {:?} {:?}", answer.text(), answer.structured(), answer.metadata());
    assert!(shown.contains("[key]"), "{shown}");
    assert!(!shown.contains("key-of-the-shop") && !shown.contains(encoded), "{shown}");
}

/// A server that repeats what it was sent, in its headers and in the encoding of a URL.
#[tokio::test]
async fn no_header_of_an_answer_shows_a_credential() {
    for (security, secret) in
        [("[{in_query: []}]", "s3cr%2Ft+token"), ("[{user: []}]", "YWRhOnBhNTV3b3Jk")]
    {
        for status in [201, 302] {
            let server = Server::answering(move |arrived| {
                let sent = format!(
                    "{} {}",
                    arrived.target,
                    arrived.header("authorization").unwrap_or_default()
                );
                let mut answer = json(status, &json!({"you_sent": sent}).to_string());
                for name in ["location", "link"] {
                    let value = format!("http://127.0.0.1:1/?{sent}").replace("Basic ", "");
                    answer.headers_mut().insert(name, value.trim().parse().expect("a header"));
                }
                answer
            });
            let server = server.await;
            let api = OpenApi::load(requiring(&server.url, security)).expect("a document");
            let credentials = all().token("in_query", "s3cr/t token");
            let answer = call(&build(api.credentials(credentials)), "op", json!({})).await;
            let shown =
                format!("{} {:?} {:?}", answer.text(), answer.structured(), answer.metadata());
            assert!(shown.contains("[key]"), "{shown}");
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}

/// Neither does the error of a request that reached no server.
#[tokio::test]
async fn no_failed_connection_shows_a_credential() {
    let api =
        OpenApi::load(requiring("http://127.0.0.1:1", "[{in_query: []}]")).expect("a document");
    let answer = call(&build(api.credentials(all())), "op", json!({})).await;
    let error = answer.error().expect("no server");
    let shown = format!("{} {error} {error:?} {:?}", answer.text(), error.source());
    assert!(!shown.contains(SECRET), "{shown}");
}

#[test]
fn a_scheme_without_credentials_is_reported_when_the_executor_is_built() {
    let refused = |api: OpenApi| {
        let built = Executor::builder(Registry::empty()).with(api).build();
        built.err().map(|it| it.to_string()).unwrap_or_default()
    };
    let of =
        |server: &str, security| OpenApi::load(requiring(server, security)).expect("a document");
    assert_eq!(
        refused(
            of("https://a.example", "[{in_header: [], user: []}, {bearer: []}]")
                .server("http://127.0.0.1:1")
        ),
        "the executor cannot be built\n- `OpenAPI Tests` cannot be used: GET /a: there are no credentials for \
         `in_header` with `user` or `bearer`; give them with `.credentials(…)`"
    );
    // A token would be read by everyone on the way.
    let error = refused(of("http://a.example", "[{bearer: []}]").credentials(all()));
    assert!(error.contains("a credential would go over plain HTTP to `a.example`"), "{error}");
    assert_eq!(refused(of("http://a.example", "[]")), "");
}

#[tokio::test]
async fn a_document_leads_no_credential_to_a_server_that_only_an_operation_names() {
    let (main, other) = (Server::start().await, Server::start().await);
    let paths = format!(
        "  /a:\n    get: {{operationId: op, security: [{{bearer: []}}], servers: [{{url: '{}/v1'}}]}}\n{SCHEMES}",
        other.url
    );
    let api = OpenApi::load(document(&main.url, &paths)).expect("a document").permit(HERE);
    let api = api.credentials(all());
    let error = Executor::builder(Registry::empty()).with(api.clone()).build();
    let error = error.expect_err("refused").to_string();
    assert!(error.contains(&format!("a credential would go to `{}`", other.url)), "{error}");
    // The application can name the server, or replace it.
    for (api, server) in
        [(api.clone().credential_server(&other.url), &other), (api.server(&main.url), &main)]
    {
        let answer = call(&build(api), "op", json!({})).await;
        assert!(!answer.is_error(), "{}", answer.text());
        assert_eq!(server.last().header("authorization"), Some("Bearer s3cr3t-token"));
    }
}

#[test]
fn no_error_shows_the_password_of_a_url() {
    let text = document("https://a.example", "  /a: {get: {}}\n");
    for url in [
        "https://ada:pa55word@a.example",
        "ftp://ada:pa55word@a",
        "http://ada:pa55word@[",
        "http://pa55word@a/?b",
    ] {
        let api = OpenApi::load(&text).expect("a document").server(url);
        let built = Executor::builder(Registry::empty()).with(api).build();
        let errors = [
            built.map(drop).expect_err(url).to_string(),
            OAuthCredentials::client("login", url, "client", "s3cr3t").expect_err(url).to_string(),
        ];
        assert!(errors.iter().all(|it| !it.contains("pa55word")), "{errors:?}");
    }
}

/// Gives each run a token of its own.
struct OfRuns(Arc<Mutex<Vec<String>>>);

impl Credentials for OfRuns {
    fn gives(&self, scheme: &SecurityScheme) -> bool {
        scheme.name == "bearer"
    }

    fn credential<'a>(
        &'a self,
        scheme: &'a SecurityScheme,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Credential, ToolError>> {
        Box::pin(async move {
            let run = context.run_id().expect("a run").to_owned();
            self.0.lock().expect("no holder panics").push(scheme.name.clone());
            match run.as_str() {
                "stranger" => Err(ToolError::new("no_credential", "sign in first")),
                run => Ok(Credential::token(format!("token-of-{run}"))),
            }
        })
    }
}

#[tokio::test]
async fn credentials_may_differ_from_run_to_run() {
    let server = Server::answering(|_| response(204, "text/plain", "")).await;
    let api = OpenApi::load(requiring(&server.url, "[{bearer: []}]")).expect("a document");
    let asked = Arc::default();
    let executor = build(api.credentials(OfRuns(Arc::clone(&asked))));
    for (run, expected) in
        [("ada", Some("Bearer token-of-ada")), ("bob", Some("Bearer token-of-bob"))]
    {
        let run = executor.run(run).start().expect("a run");
        let answer = run.call(&toolwright::Call::new("op", "{}")).await;
        assert!(!answer.is_error(), "{}", answer.text());
        assert_eq!(server.last().header("authorization"), expected);
    }
    let run = executor.run("stranger").start().expect("a run");
    let answer = run.call(&toolwright::Call::new("op", "{}")).await;
    assert_eq!(answer.error().expect("an error").message(), "sign in first");
    assert_eq!((server.arrived().len(), asked.lock().expect("no holder panics").len()), (2, 3));
}

/// A server whose tokens are numbered, and whose API takes the number that `wanted` says.
async fn token_server(wanted: &'static str, expires_in: u64) -> Server {
    let given = AtomicU32::new(0);
    Server::answering(move |arrived| match arrived.target.as_str() {
        "/token" => {
            let number = given.fetch_add(1, Ordering::Relaxed) + 1;
            let token = format!("token-number-{number}");
            json(200, &format!(r#"{{"access_token":"{token}","expires_in":{expires_in},"refresh_token":"r{number}"}}"#))
        }
        _ if arrived.header("authorization").is_some_and(|it| it.ends_with(wanted)) => json(200, "{}"),
        _ => json(401, "{}"),
    })
    .await
}

fn logged_in(server: &Server) -> OAuthCredentials {
    let url = format!("{}/token", server.url);
    OAuthCredentials::client("login", &url, "client", "s3cr3t")
        .expect("a token URL")
        .scopes(["read", "a&b"])
}

/// Bodies of the requests for tokens so far.
fn token_requests(server: &Server) -> Vec<String> {
    let arrived = server.arrived().into_iter().filter(|it| it.target == "/token");
    arrived.map(|it| it.text().to_owned()).collect()
}

#[tokio::test]
async fn a_token_of_client_credentials_is_got_once_and_replaced_when_it_expires() {
    for (expires_in, requests) in [(3600, 1), (20, 2), (u64::MAX, 1)] {
        let server = token_server("", expires_in).await;
        let api = OpenApi::load(requiring(&server.url, "[{login: []}]")).expect("a document");
        let executor = build(api.credentials(logged_in(&server)));
        for _ in 0..2 {
            let answer = call(&executor, "op", json!({})).await;
            assert!(!answer.is_error(), "{}", answer.text());
        }
        let asked = token_requests(&server);
        assert_eq!(asked.len(), requests);
        assert_eq!(asked[0], "grant_type=client_credentials&scope=read+a%26b");
        let first = server.arrived().remove(0);
        assert_eq!(first.header("authorization"), Some("Basic Y2xpZW50OnMzY3IzdA=="));
    }
}

#[tokio::test]
async fn a_token_that_the_server_refuses_is_replaced_once() {
    let server = token_server("token-number-2", 3600).await;
    let api = OpenApi::load(requiring(&server.url, "[{login: []}]")).expect("a document");
    let executor = build(api.clone().credentials(logged_in(&server).refresh_token("r0")));
    assert!(!call(&executor, "op", json!({})).await.is_error());
    let asked = token_requests(&server);
    assert_eq!(asked[0], "grant_type=refresh_token&refresh_token=r0&scope=read+a%26b");
    // The server has replaced the refresh token too.
    assert_eq!(asked[1], "grant_type=refresh_token&refresh_token=r1&scope=read+a%26b");
    let server = token_server("never", 3600).await;
    let api = OpenApi::load(requiring(&server.url, "[{login: []}]")).expect("a document");
    let answer = call(&build(api.credentials(logged_in(&server))), "op", json!({})).await;
    assert_eq!(answer.error().expect("an error").kind(), "permission_denied");
    assert_eq!(server.arrived().len(), 4);
}

#[tokio::test]
async fn an_authorization_server_that_gives_no_token_is_named_without_its_secrets() {
    let server = Server::answering(|_| json(400, r#"{"error":"invalid_client"}"#)).await;
    let api = OpenApi::load(requiring(&server.url, "[{login: []}]")).expect("a document");
    let answer = call(&build(api.credentials(logged_in(&server))), "op", json!({})).await;
    let error = answer.error().expect("an error");
    assert_eq!(error.message(), "the authorization server gives no token for `login`");
    assert!(
        error.source().expect("a cause").to_string().ends_with("/token answered 400 Bad Request")
    );
}

#[tokio::test]
async fn an_answer_that_is_cut_within_a_credential_shows_nothing_of_it() {
    for (status, limit) in [(200, 20), (500, 20), (500, 16)] {
        let server = Server::answering(move |arrived| {
            let key = arrived.header("authorization").unwrap_or_default();
            response(status, "text/plain", format!("sent: {key} and more"))
        })
        .await;
        let api = OpenApi::load(requiring(&server.url, "[{bearer: []}]")).expect("a document");
        let executor = build(api.credentials(all()).body_limit(limit));
        let text = call(&executor, "op", json!({})).await.text().into_owned();
        assert!(text.contains("sent: Bearer") && !text.contains(&SECRET[..3]), "{text}");
    }
}

/// A server may replace the refresh token with each token that it gives, and takes the old one no more.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_ends_while_a_token_is_got_loses_no_refresh_token() {
    let (arrived, given) = (Arc::new(tokio::sync::Notify::new()), AtomicU32::new(0));
    let seen = Arc::clone(&arrived);
    let server = Server::answering(move |request| match request.target.as_str() {
        "/token" => {
            let number = given.fetch_add(1, Ordering::Relaxed);
            let wanted = format!("refresh_token=r{number}");
            seen.notify_one();
            std::thread::sleep(std::time::Duration::from_millis(100));
            match request.text().contains(&wanted) {
                true => json(
                    200,
                    &format!(
                        r#"{{"access_token":"t","expires_in":1,"refresh_token":"r{}"}}"#,
                        number + 1
                    ),
                ),
                false => json(400, r#"{"error":"invalid_grant"}"#),
            }
        }
        _ => json(200, "{}"),
    })
    .await;
    let api = OpenApi::load(requiring(&server.url, "[{login: []}]")).expect("a document");
    let executor = build(api.credentials(logged_in(&server).refresh_token("r0")));
    tokio::select! {
        _ = call(&executor, "op", json!({})) => panic!("the call ended before it was cancelled"),
        () = arrived.notified() => {}
    }
    let answer = call(&executor, "op", json!({})).await;
    assert!(!answer.is_error(), "{}", answer.text());
}

#[tokio::test]
async fn a_token_whose_lifetime_is_a_text_is_used_until_then() {
    let server = Server::answering(|arrived| match arrived.target.as_str() {
        "/token" => json(200, r#"{"access_token":"a-new-token","expires_in":"20"}"#),
        _ => json(200, "{}"),
    });
    let server = server.await;
    let api = OpenApi::load(requiring(&server.url, "[{login: []}]")).expect("a document");
    let executor = build(api.credentials(logged_in(&server)));
    for _ in 0..2 {
        let answer = call(&executor, "op", json!({})).await;
        assert!(!answer.is_error(), "{}", answer.text());
    }
    // A token of 20 seconds is replaced at the next call.
    assert_eq!(token_requests(&server).len(), 2);
}

#[tokio::test]
async fn a_call_may_be_repeated_after_half_an_answer_of_the_authorization_server() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/token", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut buffer = [0; 4096];
        assert!(stream.read(&mut buffer).expect("a request") > 0);
        let half = b"HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{\"access_token\":";
        stream.write_all(half).expect("written");
    });
    let login = OAuthCredentials::client("login", &url, "client", "s3cr3t").expect("a token URL");
    let api = OpenApi::load(requiring("http://127.0.0.1:1", "[{login: []}]")).expect("a document");
    let answer = call(&build(api.credentials(login)), "op", json!({})).await;
    let error = answer.error().expect("an error");
    assert_eq!(error.kind(), "unreachable");
    assert_eq!(error.classified(), toolwright::ErrorClass::NotStarted { retry_after: None });
}

#[tokio::test]
async fn an_authorization_server_that_is_busy_is_asked_again_when_it_says() {
    let server = Server::answering(|_| {
        let mut response = json(429, "{}");
        response.headers_mut().insert("retry-after", "7".parse().expect("a header"));
        response
    })
    .await;
    let api = OpenApi::load(requiring(&server.url, "[{login: []}]")).expect("a document");
    let answer = call(&build(api.credentials(logged_in(&server))), "op", json!({})).await;
    let class = answer.error().expect("an error").classified();
    let retry_after = Some(std::time::Duration::from_secs(7));
    assert_eq!(class, toolwright::ErrorClass::NotStarted { retry_after });
}
