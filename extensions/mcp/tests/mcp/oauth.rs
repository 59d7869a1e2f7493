//! Tokens by OAuth: a client of ours, a server of ours that checks tokens, and an authorization server with faults.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use toolwright::journal::SealingKey;
use toolwright::{Call, CancellationToken, Executor, Registry, ToolError, tool};
use toolwright_mcp::{
    EncryptedTokens, Loopback, McpConfig, McpServer, McpServers, MemoryTokens, OAuth, SignIn,
    SignInRequest, TokenCheck, TokenRefusal, TokenStore,
};

/// Say hello.
#[tool(unlinked, effect = read, reads())]
async fn hello() -> String {
    "hello".to_owned()
}

/// What the authorization server has seen and does.
#[derive(Default)]
struct Issuer {
    url: String,
    /// Path and parameters of each request.
    seen: Mutex<Vec<(String, HashMap<String, String>)>>,
    /// The tokens that the server takes.
    valid: Mutex<Vec<String>>,
    /// Whether a token endpoint elsewhere is announced.
    leads_elsewhere: bool,
    is_hidden: bool,
    /// Whether tokens are not refreshed.
    refuses_refresh: AtomicBool,
    /// How often the next refreshes fail for now.
    fails_refresh: AtomicUsize,
    /// How often the next requests with the client's credentials fail for now.
    fails_credentials: AtomicUsize,
}

impl Issuer {
    async fn start(leads_elsewhere: bool) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::serving(listener, Self { leads_elsewhere, ..Self::default() })
    }

    /// One that publishes nothing of itself.
    fn at(listener: TcpListener, is_hidden: bool) -> Arc<Self> {
        Self::serving(listener, Self { is_hidden, ..Self::default() })
    }

    fn serving(listener: TcpListener, issuer: Self) -> Arc<Self> {
        let url = format!("http://{}", listener.local_addr().unwrap());
        let issuer = Arc::new(Self { url, ..issuer });
        let serving = Arc::clone(&issuer);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let serving = Arc::clone(&serving);
                tokio::spawn(async move { serving.answer(stream).await });
            }
        });
        issuer
    }

    async fn answer(&self, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        let (mut first, mut length) = (String::new(), 0);
        stream.read_line(&mut first).await.unwrap();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await.unwrap();
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.unwrap();
        let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
        let page = format!("http://x/?{}", String::from_utf8_lossy(&body));
        let form = reqwest::Url::parse(&page).unwrap();
        let form: HashMap<_, _> = form.query_pairs().into_owned().collect();
        let (status, answer) = self.page(&path, &form);
        self.seen.lock().unwrap().push((path, form));
        let text = answer.to_string();
        let head = format!(
            "HTTP/1.1 {status} .\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            text.len()
        );
        stream.write_all((head + &text).as_bytes()).await.unwrap();
    }

    fn page(&self, path: &str, form: &HashMap<String, String>) -> (u16, Value) {
        let url = &self.url;
        match path {
            "/.well-known/oauth-authorization-server" if !self.is_hidden => {
                let token = match self.leads_elsewhere {
                    true => "http://elsewhere.example/token".to_owned(),
                    false => format!("{url}/token"),
                };
                let metadata = json!({
                    "issuer": url, "authorization_endpoint": format!("{url}/authorize"),
                    "token_endpoint": token, "registration_endpoint": format!("{url}/register"),
                    "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
                    "token_endpoint_auth_methods_supported": ["none", "client_secret_post"],
                });
                (200, metadata)
            }
            "/register" => {
                let client = json!({"client_id": "ours", "redirect_uris": [PAGE], "token_endpoint_auth_method": "none"});
                (201, client)
            }
            "/token"
                if form.get("grant_type").is_some_and(|it| it == "refresh_token")
                    && self.refuses_refresh.load(Ordering::SeqCst) =>
            {
                (401, json!({"error": "invalid_client"}))
            }
            "/token"
                if form.get("grant_type").is_some_and(|it| it == "refresh_token")
                    && self.fails_refresh.load(Ordering::SeqCst) > 0 =>
            {
                self.fails_refresh.fetch_sub(1, Ordering::SeqCst);
                (503, json!({"error": "temporarily_unavailable"}))
            }
            "/token"
                if form.get("grant_type").is_some_and(|it| it == "client_credentials")
                    && self.fails_credentials.load(Ordering::SeqCst) > 0 =>
            {
                self.fails_credentials.fetch_sub(1, Ordering::SeqCst);
                (503, json!({"error": "temporarily_unavailable"}))
            }
            "/token" => {
                let mut valid = self.valid.lock().unwrap();
                let kind = form.get("grant_type").map_or("", String::as_str);
                let token = format!("token-{}-{kind}", valid.len());
                valid.push(token.clone());
                (
                    200,
                    json!({"access_token": token, "token_type": "Bearer", "expires_in": 3600, "refresh_token": "again"}),
                )
            }
            _ => (404, json!({})),
        }
    }

    fn forms(&self, path: &str) -> Vec<HashMap<String, String>> {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter(|(it, _)| it == path).map(|(_, form)| form.clone()).collect()
    }
}

struct Check(Arc<Issuer>);

impl TokenCheck for Check {
    fn check<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<String, TokenRefusal>> {
        let last = self.0.valid.lock().unwrap().last().cloned();
        Box::pin(async move {
            match last {
                Some(valid) if valid == token => Ok("ada".to_owned()),
                _ => Err(TokenRefusal::Invalid),
            }
        })
    }
}

/// Takes no token but the one of this number, and asks for another scope before.
struct Wanting(Arc<Issuer>, usize);

impl TokenCheck for Wanting {
    fn check<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<String, TokenRefusal>> {
        let issued = self.0.valid.lock().unwrap().len();
        Box::pin(async move {
            match issued {
                0 => Err(TokenRefusal::Invalid),
                issued if issued < self.1 => Err(TokenRefusal::MissingScope("notes:write".into())),
                _ => Ok("ada".to_owned()),
            }
        })
    }
}

/// Takes every token, and asks for another scope now and then.
#[derive(Clone)]
struct Moody(Arc<Issuer>, Arc<AtomicBool>);

impl TokenCheck for Moody {
    fn check<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<String, TokenRefusal>> {
        let is_valid = self.0.valid.lock().unwrap().iter().any(|it| it == token);
        let wants_more = self.1.load(Ordering::SeqCst);
        Box::pin(async move {
            match (is_valid, wants_more) {
                (false, _) => Err(TokenRefusal::Invalid),
                (true, true) => Err(TokenRefusal::MissingScope("notes:write".into())),
                (true, false) => Ok("ada".to_owned()),
            }
        })
    }
}

const PAGE: &str = "http://127.0.0.1:3999/callback";

/// Signs in without a browser; sends it to this page.
#[derive(Clone, Default)]
struct Person {
    asked: Arc<Mutex<Vec<String>>>,
    goes_elsewhere: bool,
    forges_state: bool,
    /// Whether the person refuses to sign in once more.
    refuses_more: bool,
}

impl SignIn for Person {
    fn redirect_uri(&self) -> &str {
        PAGE
    }

    fn sign_in(&self, request: SignInRequest) -> BoxFuture<'_, Result<String, ToolError>> {
        let url = reqwest::Url::parse(&request.url).unwrap();
        let is_refused = {
            let mut asked = self.asked.lock().unwrap();
            asked.push(request.url);
            self.refuses_more && asked.len() > 1
        };
        if is_refused {
            return Box::pin(async { Err(ToolError::new("refused", "the person says no")) });
        }
        let state = url.query_pairs().find(|(name, _)| name == "state").unwrap().1.into_owned();
        let state = if self.forges_state { "forged" } else { &state };
        let page = if self.goes_elsewhere { "http://127.0.0.1:3999/callback.evil" } else { PAGE };
        let answer = format!("{page}?code=c0de&state={state}");
        Box::pin(async move { Ok(answer) })
    }
}

struct Served {
    url: String,
    ended: CancellationToken,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

async fn serve(issuer: &Arc<Issuer>) -> Served {
    serve_with(issuer, Check(Arc::clone(issuer))).await
}

async fn serve_with(issuer: &Arc<Issuer>, check: impl TokenCheck + 'static) -> Served {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let executor = Executor::builder(Registry::of([HELLO]).unwrap()).build().unwrap();
    let server = McpServer::new(executor).check_tokens(check);
    let server = server.protected_resource(format!("http://{address}/mcp"), [issuer.url.clone()]);
    let bound = server.http(address).unwrap().bind().await.unwrap();
    let (url, ended) = (bound.url(), CancellationToken::new());
    tokio::spawn(bound.serve_until(ended.clone()));
    Served { url, ended }
}

/// What a call of `far__hello` answers.
async fn called(served: &Served, oauth: OAuth, more: &str) -> String {
    let (servers, executor) = using(served, oauth, more);
    let text = say(&executor).await;
    servers.close().await;
    text
}

fn using(served: &Served, oauth: OAuth, more: &str) -> (McpServers, Executor) {
    let text = format!("[servers.far]\nurl = \"{}\"\ntrust = \"annotations\"\n{more}", served.url);
    let config = McpConfig::from_toml(&text).unwrap();
    let servers = McpServers::with_oauth(config, oauth);
    let builder = Executor::builder(Registry::empty()).unrestricted();
    (servers.clone(), builder.with(servers).build().unwrap())
}

async fn say(executor: &Executor) -> String {
    executor.call(&Call::new("far__hello", "{}")).await.text().into_owned()
}

#[tokio::test]
async fn a_person_signs_in_once_and_the_token_is_bound_to_the_server_and_stored() {
    let issuer = Issuer::start(false).await;
    let served = serve(&issuer).await;
    let (folder, person) = (tempfile::tempdir().unwrap(), Person::default());
    let key = SealingKey::generate().unwrap();
    let oauth = || {
        let tokens = EncryptedTokens::new(folder.path(), key.clone());
        OAuth::new(tokens).sign_in(person.clone())
    };
    let answer = called(&served, oauth(), "").await;
    assert!(answer.contains("\nhello\n"), "{answer}");
    let asked = person.asked.lock().unwrap().clone();
    assert!(asked[0].contains("code_challenge_method=S256"), "{asked:?}");
    let exchanged = &issuer.forms("/token")[0];
    assert_eq!(exchanged["resource"], served.url);
    assert!(exchanged["code_verifier"].len() >= 43, "{exchanged:?}");

    let answer = called(&served, oauth(), "").await;
    assert!(answer.contains("\nhello\n"), "{answer}");
    assert_eq!(person.asked.lock().unwrap().len(), 1, "the stored token was not used");
    assert_eq!((issuer.forms("/register").len(), issuer.forms("/token").len()), (1, 1));
}

#[tokio::test]
async fn a_token_that_the_server_no_longer_takes_is_refreshed_during_a_call_and_nobody_is_asked() {
    let issuer = Issuer::start(false).await;
    let served = serve(&issuer).await;
    let person = Person::default();
    let oauth = OAuth::new(MemoryTokens::default()).sign_in(person.clone());
    let (servers, executor) = using(&served, oauth, "");
    assert!(say(&executor).await.contains("\nhello\n"));
    issuer.valid.lock().unwrap().push("another".to_owned());
    let answer = say(&executor).await;
    assert!(answer.contains("\nhello\n"), "{answer}");
    assert_eq!(issuer.forms("/token")[1]["grant_type"], "refresh_token");
    assert_eq!(person.asked.lock().unwrap().len(), 1);
    servers.close().await;
}

#[tokio::test]
async fn a_token_endpoint_that_fails_once_is_asked_again_and_no_person_is() {
    let issuer = Issuer::start(false).await;
    let served = serve(&issuer).await;
    let person = Person::default();
    let oauth = OAuth::new(MemoryTokens::default()).sign_in(person.clone());
    let (servers, executor) = using(&served, oauth, "");
    assert!(say(&executor).await.contains("\nhello\n"));
    issuer.valid.lock().unwrap().push("another".to_owned());
    issuer.fails_refresh.store(1, Ordering::SeqCst);
    let answer = say(&executor).await;
    assert!(answer.contains("\nhello\n"), "{answer}");
    assert_eq!(issuer.forms("/token").len(), 3, "a code, and two refreshes");
    assert_eq!(person.asked.lock().unwrap().len(), 1);
    servers.close().await;
}

/// The refresh token may count later, so that there is nothing that a person could do.
#[tokio::test]
async fn no_person_is_asked_while_a_token_endpoint_goes_on_failing_and_the_next_call_may_work() {
    let issuer = Issuer::start(false).await;
    let served = serve(&issuer).await;
    let person = Person::default();
    let oauth = OAuth::new(MemoryTokens::default()).sign_in(person.clone());
    let (servers, executor) = using(&served, oauth, "");
    assert!(say(&executor).await.contains("\nhello\n"));
    issuer.valid.lock().unwrap().push("another".to_owned());
    issuer.fails_refresh.store(100, Ordering::SeqCst);
    let answer = say(&executor).await;
    assert!(!answer.contains("\nhello\n"), "{answer}");
    // A code, and four refreshes for each attempt of the call.
    let tokens = issuer.forms("/token").len();
    assert!(tokens > 4 && tokens % 4 == 1, "{tokens}");
    issuer.fails_refresh.store(0, Ordering::SeqCst);
    let answer = say(&executor).await;
    assert!(answer.contains("\nhello\n"), "{answer}");
    assert_eq!(person.asked.lock().unwrap().len(), 1);
    servers.close().await;
}

/// One store of several processes.
struct Shared(Arc<MemoryTokens>);

impl TokenStore for Shared {
    fn load<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<String>, ToolError>> {
        self.0.load(key)
    }

    fn save<'a>(
        &'a self,
        key: &'a str,
        tokens: Option<String>,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        self.0.save(key, tokens)
    }
}

/// The same, in which everything has expired that was saved before.
struct ExpiredOnce {
    tokens: Shared,
    is_fresh: AtomicBool,
}

impl ExpiredOnce {
    fn of(tokens: &Arc<MemoryTokens>) -> Self {
        Self { tokens: Shared(Arc::clone(tokens)), is_fresh: AtomicBool::new(false) }
    }
}

impl TokenStore for ExpiredOnce {
    fn load<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<String>, ToolError>> {
        Box::pin(async move {
            let text = self.tokens.load(key).await?;
            if self.is_fresh.load(Ordering::SeqCst) {
                return Ok(text);
            }
            Ok(text.map(|text| {
                let mut stored: Value = serde_json::from_str(&text).unwrap();
                stored["token_received_at"] = 1.into();
                stored.to_string()
            }))
        })
    }

    fn save<'a>(
        &'a self,
        key: &'a str,
        tokens: Option<String>,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        self.is_fresh.store(true, Ordering::SeqCst);
        self.tokens.save(key, tokens)
    }
}

#[tokio::test]
async fn a_person_signs_in_again_where_an_expired_token_is_not_refreshed() {
    let issuer = Issuer::start(false).await;
    let served = serve(&issuer).await;
    let (tokens, person) = (Arc::new(MemoryTokens::default()), Person::default());
    let fresh = || OAuth::new(Shared(Arc::clone(&tokens))).sign_in(person.clone());
    assert!(called(&served, fresh(), "").await.contains("\nhello\n"));
    issuer.refuses_refresh.store(true, Ordering::SeqCst);
    // Of the next process, by whose clock the token has expired.
    let expired = OAuth::new(ExpiredOnce::of(&tokens)).sign_in(person.clone());
    let answer = called(&served, expired, "").await;
    assert!(answer.contains("\nhello\n"), "{answer}");
    assert_eq!(person.asked.lock().unwrap().len(), 2);
}

/// The stored refresh token is that of one authorization server: what only claims to be there gets nothing.
#[tokio::test]
async fn a_stored_token_goes_to_no_authorization_server_that_is_guessed() {
    let issuer = Issuer::start(false).await;
    let served = serve(&issuer).await;
    let (tokens, person) = (Arc::new(MemoryTokens::default()), Person::default());
    let fresh = OAuth::new(Shared(Arc::clone(&tokens))).sign_in(person.clone());
    assert!(called(&served, fresh, "").await.contains("\nhello\n"));
    served.ended.cancel();
    // The same address, which names no authorization server and has a page that takes tokens.
    let address = reqwest::Url::parse(&served.url).unwrap();
    let address = format!("127.0.0.1:{}", address.port().unwrap());
    let impostor = loop {
        match TcpListener::bind(&address).await {
            Ok(listener) => break Issuer::at(listener, true),
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    };
    let expired = OAuth::new(ExpiredOnce::of(&tokens)).sign_in(person.clone());
    let answer = called(&served, expired, "start_timeout = 3").await;
    assert!(answer.contains("cannot be used"), "{answer}");
    assert!(!impostor.seen.lock().unwrap().is_empty(), "it was not asked at all");
    assert!(impostor.forms("/token").is_empty(), "{:?}", impostor.forms("/token"));
}

#[tokio::test]
async fn a_redirect_to_another_page_or_with_another_state_is_refused_and_nobody_is_asked_again() {
    let issuer = Issuer::start(false).await;
    let served = serve(&issuer).await;
    let faults = [
        Person { goes_elsewhere: true, ..Person::default() },
        Person { forges_state: true, ..Person::default() },
    ];
    for person in faults {
        let oauth = OAuth::new(MemoryTokens::default()).sign_in(person.clone());
        let answer = called(&served, oauth, "").await;
        assert!(answer.contains("cannot be used"), "{answer}");
        assert_eq!(person.asked.lock().unwrap().len(), 1);
    }
    assert!(issuer.forms("/token").is_empty(), "a code was exchanged");
}

#[tokio::test]
async fn no_person_is_sent_to_an_authorization_server_whose_tokens_come_in_the_clear() {
    let issuer = Issuer::start(true).await;
    let served = serve(&issuer).await;
    let person = Person::default();
    let oauth = OAuth::new(MemoryTokens::default()).sign_in(person.clone());
    let answer = called(&served, oauth, "").await;
    assert!(answer.contains("cannot be used"), "{answer}");
    assert!(person.asked.lock().unwrap().is_empty());
    assert!(issuer.forms("/register").is_empty());
}

#[tokio::test]
async fn a_person_is_asked_for_another_scope_and_a_server_that_asks_without_end_is_given_up() {
    for (token, asked, works) in [(2, 2, true), (100, 3, false)] {
        let issuer = Issuer::start(false).await;
        let served = serve_with(&issuer, Wanting(Arc::clone(&issuer), token)).await;
        let person = Person::default();
        let oauth = OAuth::new(MemoryTokens::default()).sign_in(person.clone());
        let answer = called(&served, oauth, "").await;
        assert_eq!(answer.contains("\nhello\n"), works, "{answer}");
        let pages = person.asked.lock().unwrap().clone();
        assert_eq!(pages.len(), asked, "{pages:?}");
        assert!(!pages[0].contains("notes%3Awrite"), "{pages:?}");
        assert!(pages[1].contains("scope=notes%3Awrite"), "{pages:?}");
        assert_eq!(issuer.forms("/register").len(), 1, "the client registered again");
    }
}

/// The browser is sent to the issuer's page by this test, and comes back to a port of this machine.
#[tokio::test]
async fn a_browser_of_this_machine_comes_back_and_what_else_knocks_counts_for_nothing() {
    let issuer = Issuer::start(false).await;
    let served = serve(&issuer).await;
    let loopback = Loopback::bind(0, |asked| {
        let url = reqwest::Url::parse(&asked.url).unwrap();
        let of = |name: &str| url.query_pairs().find(|(it, _)| it == name).unwrap().1.into_owned();
        let (page, state) = (of("redirect_uri"), of("state"));
        tokio::spawn(async move {
            let address = page.trim_start_matches("http://").split('/').next().unwrap().to_owned();
            drop(TcpStream::connect(&address).await.unwrap());
            let other = reqwest::get(format!("http://{address}/favicon.ico")).await.unwrap();
            assert_eq!(other.status(), 404);
            let back = reqwest::get(format!("{page}?code=c0de&state={state}")).await.unwrap();
            assert!(back.text().await.unwrap().contains("close this page"));
        });
    });
    let oauth = OAuth::new(MemoryTokens::default()).sign_in(loopback.await.unwrap());
    let answer = called(&served, oauth, "").await;
    assert!(answer.contains("\nhello\n"), "{answer}");
}

#[tokio::test]
async fn client_credentials_need_no_person() {
    let issuer = Issuer::start(false).await;
    let served = serve(&issuer).await;
    // A variable that cargo sets for tests has the secret.
    let more = "[servers.far.oauth]\nclient_id = \"us\"\nclient_secret_env = \"CARGO_PKG_NAME\"\nclient_credentials = true";
    let answer = called(&served, OAuth::new(MemoryTokens::default()), more).await;
    assert!(answer.contains("\nhello\n"), "{answer}");
    let form = &issuer.forms("/token")[0];
    assert_eq!((&*form["grant_type"], &*form["resource"]), ("client_credentials", &*served.url));
    assert_eq!(form["client_secret"], "toolwright-mcp");
}

/// The token is still good for what it was good for before.
#[tokio::test]
async fn a_person_who_refuses_another_scope_does_not_lose_the_token_of_before() {
    let issuer = Issuer::start(false).await;
    let wants_more = Arc::new(AtomicBool::new(false));
    let served = serve_with(&issuer, Moody(Arc::clone(&issuer), Arc::clone(&wants_more))).await;
    let person = Person { refuses_more: true, ..Person::default() };
    let oauth = OAuth::new(MemoryTokens::default()).sign_in(person.clone());
    let (servers, executor) = using(&served, oauth, "");
    assert!(say(&executor).await.contains("\nhello\n"));
    wants_more.store(true, Ordering::SeqCst);
    let refused = executor.call(&Call::new("far__hello", "{}")).await;
    assert_eq!(refused.error().unwrap().kind(), "not_authorized", "{}", refused.text());
    assert!(refused.text().contains("the person says no"), "{}", refused.text());
    wants_more.store(false, Ordering::SeqCst);
    let answer = say(&executor).await;
    assert!(answer.contains("\nhello\n"), "{answer}");
    assert_eq!(person.asked.lock().unwrap().len(), 2);
    servers.close().await;
}

#[tokio::test]
async fn client_credentials_work_again_after_the_authorization_server_has_failed_once() {
    let issuer = Issuer::start(false).await;
    let served = serve(&issuer).await;
    let more = "[servers.far.oauth]\nclient_id = \"us\"\nclient_secret_env = \"CARGO_PKG_NAME\"\nclient_credentials = true";
    let (servers, executor) = using(&served, OAuth::new(MemoryTokens::default()), more);
    assert!(say(&executor).await.contains("\nhello\n"));
    // The token has expired, and no refresh token helps.
    issuer.valid.lock().unwrap().push("another".to_owned());
    issuer.refuses_refresh.store(true, Ordering::SeqCst);
    issuer.fails_credentials.store(1, Ordering::SeqCst);
    let failed = say(&executor).await;
    assert_eq!(issuer.fails_credentials.load(Ordering::SeqCst), 0, "{failed}");
    let answer = say(&executor).await;
    assert!(answer.contains("\nhello\n"), "{answer}");
    servers.close().await;
}

#[test]
fn an_oauth_table_that_cannot_work_is_refused() {
    let error = |more: &str| {
        let text = format!("[servers.far]\nurl = \"http://localhost/mcp\"\n{more}");
        McpConfig::from_toml(&text).unwrap_err().to_string()
    };
    let missing = error("oauth = { client_credentials = true, client_id = \"a\" }");
    assert!(missing.contains("needs `client_id` and `client_secret_env`"), "{missing}");
    let both = error("token_env = \"A\"\noauth = { client_id = \"a\" }");
    assert!(both.contains("both `token_env` and `oauth`"), "{both}");
    let alone = error("oauth = { client_secret_env = \"A\" }");
    assert!(alone.contains("goes with `client_id`"), "{alone}");
    let far = "[servers.far]\nurl = \"http://far.example/mcp\"\noauth = { client_id = \"a\" }";
    let clear = McpConfig::from_toml(far).unwrap_err().to_string();
    assert!(clear.contains("in the clear"), "{clear}");
}
