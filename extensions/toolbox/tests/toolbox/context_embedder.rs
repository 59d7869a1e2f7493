//! The store with an embedding model: what it finds, and what it does where the model fails.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use toolwright::{Answer, Call, Executor, Registry};
use toolwright_toolbox::{
    CONTEXT_STORE, ContextStore, EmbedPurpose, Embedder, EmbedderError, HttpEmbedder, OnConflict,
    Workspace,
};

use super::loopback::{Loopback, answer};
use super::support::runtime;

/// What a model does next.
type Deed = dyn Fn(&[String]) -> Result<Vec<Vec<f32>>, EmbedderError> + Send + Sync;

/// A model that knows three topics by some of their words, unless a test makes it do something else.
#[derive(Clone)]
struct Topics {
    model: &'static str,
    deed: Arc<Mutex<Option<Box<Deed>>>>,
    /// How many texts it was given to store.
    passages: Arc<AtomicUsize>,
}

const TOPICS: [&[&str]; 3] =
    [&["tea", "assam", "beverage"], &["invoice", "revenue", "money"], &["cat", "kitten", "pet"]];

fn vector(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    // The last number is what all texts have in common.
    let counts = TOPICS.map(|words| words.iter().map(|it| text.matches(it).count() as f32).sum());
    counts.into_iter().chain([0.01]).collect()
}

impl Topics {
    fn new(model: &'static str) -> Self {
        Self { model, deed: Arc::default(), passages: Arc::default() }
    }

    fn does(
        &self,
        deed: impl Fn(&[String]) -> Result<Vec<Vec<f32>>, EmbedderError> + Send + Sync + 'static,
    ) {
        *self.deed.lock().unwrap() = Some(Box::new(deed));
    }

    fn recovers(&self) {
        *self.deed.lock().unwrap() = None;
    }

    fn passages(&self) -> usize {
        self.passages.load(Ordering::Relaxed)
    }
}

impl Embedder for Topics {
    fn model(&self) -> &str {
        self.model
    }

    fn dimensions(&self) -> usize {
        4
    }

    fn embed<'a>(
        &'a self,
        texts: &'a [String],
        purpose: EmbedPurpose,
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedderError>> {
        if purpose == EmbedPurpose::Passage {
            self.passages.fetch_add(texts.len(), Ordering::Relaxed);
        }
        // The lock is poisoned after a deed that panicked.
        let answer = match &*self.deed.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(deed) => deed(texts),
            None => Ok(texts.iter().map(|it| vector(it)).collect()),
        };
        async move { answer }.boxed()
    }
}

/// Never answers.
struct Silent;

impl Embedder for Silent {
    fn model(&self) -> &str {
        "silent"
    }

    fn dimensions(&self) -> usize {
        4
    }

    fn embed<'a>(
        &'a self,
        _: &'a [String],
        _: EmbedPurpose,
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedderError>> {
        futures::future::pending().boxed()
    }
}

struct World {
    folder: TempDir,
    store: ContextStore,
    topics: Topics,
}

impl World {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let topics = Topics::new("topics");
        let store = ContextStore::open(folder.path().join("context.db")).unwrap();
        Self { folder, store: store.with_embedder(topics.clone()), topics }
    }

    /// The store again, with another model.
    fn reopened(&self, embedder: impl Embedder) -> ContextStore {
        ContextStore::open(self.store.file()).unwrap().with_embedder(embedder)
    }

    /// How many vectors the file has, by model.
    fn vectors(&self) -> Vec<(String, i64)> {
        let file = rusqlite::Connection::open(self.store.file()).unwrap();
        let mut select =
            file.prepare("SELECT model, count(*) FROM vectors GROUP BY model ORDER BY 1").unwrap();
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    }
}

fn call(store: &ContextStore, tool: &str, input: Value) -> Answer {
    let executor = Executor::builder(Registry::of(CONTEXT_STORE).unwrap()).unrestricted();
    let executor = executor.service(store.clone()).build().unwrap();
    let answer = runtime().block_on(executor.call(&Call::new(tool.to_owned(), input.to_string())));
    assert!(!answer.is_error(), "{}", answer.text());
    answer
}

/// The paths that a search finds, and what it reports.
fn found(store: &ContextStore, query: &str) -> (Vec<String>, Option<String>) {
    let found = runtime().block_on(store.find(query, None, 10)).unwrap();
    (found.parts.into_iter().map(|it| it.path).collect(), found.problem)
}

fn write(store: &ContextStore, path: &str, content: &str) -> Value {
    let input = json!({"path": path, "content": content, "on_conflict": "overwrite"});
    call(store, "context_write", input).structured().unwrap()
}

#[test]
fn vectors_find_what_words_do_not_and_what_both_find_is_first() {
    let world = World::new();
    write(&world.store, "drinks.md", "Buy Assam.\n");
    write(&world.store, "house/cats.md", "The kitten drinks no beverage.\n");
    write(&world.store, "money.md", "The invoice of May.\n");
    assert_eq!(world.topics.passages(), 3);
    assert_eq!(world.store.search("tea", None, 10).unwrap(), []);
    assert_eq!(found(&world.store, "tea").0, ["drinks.md", "house/cats.md", "money.md"]);
    // Both the words and the vector lead to the kitten; the vector alone would put the Assam first.
    assert_eq!(found(&world.store, "beverage, tea").0[0], "house/cats.md");
    // A phrase is searched by its words alone.
    assert_eq!(found(&world.store, "\"tea\"").0, Vec::<String>::new());
    let answer = call(&world.store, "context_search", json!({"query": "pet", "path": "house"}));
    assert_eq!(
        answer.structured().unwrap(),
        json!([{"path": "house/cats.md", "line": 1, "text": "The kitten drinks no beverage.\n"}])
    );
    assert_eq!(world.topics.passages(), 3, "no part is embedded twice");
}

#[test]
fn a_replaced_text_is_not_found_by_its_vector_and_without_a_model_no_vector_is_made() {
    let world = World::new();
    write(&world.store, "a", "Buy Assam.\n");
    write(&world.store, "a", "The kitten.\n");
    write(&world.store, "b", "Assam.\n");
    assert_eq!(world.vectors(), [("topics (4)".to_owned(), 2)]);
    assert_eq!(found(&world.store, "tea").0[0], "b");
    let plain = ContextStore::open(world.store.file()).unwrap();
    write(&plain, "c", "An invoice.\n");
    assert_eq!(world.vectors(), [("topics (4)".to_owned(), 2)]);
    assert_eq!(found(&plain, "tea"), (Vec::new(), None));
    assert_eq!(found(&world.store, "money").0[0], "c", "a search embeds what has no vector");
}

#[test]
fn where_the_model_fails_the_text_is_stored_and_embedded_later() {
    let world = World::new();
    world.topics.does(|_| Err(EmbedderError::unavailable("it rests")));
    let written = write(&world.store, "a", "Buy Assam.\n");
    assert_eq!(
        written["not_embedded"],
        "1 part has no vector yet: the embedding model cannot be used: it rests"
    );
    let answer = call(&world.store, "context_search", json!({"query": "Assam"}));
    let why = "the search was by words alone: the embedding model cannot be used: it rests";
    assert_eq!(answer.structured().unwrap()[0]["path"], "a");
    assert!(answer.text().ends_with(why), "{}", answer.text());
    assert_eq!(found(&world.store, "tea"), (Vec::new(), Some(why.to_owned())));
    world.topics.recovers();
    assert_eq!(found(&world.store, "tea"), (vec!["a".to_owned()], None));
    let report = runtime().block_on(world.store.embed()).unwrap();
    assert_eq!((report.embedded, report.missing, report.problem), (0, 0, None));
}

#[test]
fn a_refresh_embeds_what_was_written_before_and_reports_what_it_could_not() {
    let world = World::new();
    let workspace = Arc::new(Workspace::open(world.folder.path()).unwrap());
    let store = world.store.clone().with_source(workspace);
    std::fs::write(world.folder.path().join("tea.md"), "Assam\n").unwrap();
    world.topics.does(|_| Err(EmbedderError::unavailable("it rests")));
    call(&store, "context_write", json!({"path": "tea", "source": "file:tea.md"}));
    let refresh = || call(&store, "context_refresh", json!({})).structured().unwrap();
    let failed = refresh();
    assert_eq!(failed[0]["result"], "unchanged");
    assert!(failed[0]["not_embedded"].as_str().unwrap().ends_with("it rests"), "{failed}");
    world.topics.recovers();
    assert_eq!(refresh(), json!([{"path": "tea", "result": "unchanged"}]));
    assert_eq!(world.vectors(), [("topics (4)".to_owned(), 1)]);
}

#[test]
fn an_answer_with_too_few_or_unlike_vectors_is_not_stored() {
    let world = World::new();
    let cases: [(Box<Deed>, &str); 3] = [
        (Box::new(|_| Ok(Vec::new())), "answered with 0 vectors, expected 1"),
        (
            Box::new(|_| Ok(vec![vec![1.0; 3]])),
            "answered with a vector of 3 dimensions, expected 4",
        ),
        (Box::new(|_| Ok(vec![vec![f32::NAN; 4]])), "a vector without a direction"),
    ];
    for (deed, expected) in cases {
        world.topics.does(deed);
        let written = write(&world.store, "a", "Buy Assam.\n");
        let why = written["not_embedded"].as_str().unwrap();
        assert!(why.contains(expected), "{why}");
        assert_eq!(world.vectors(), []);
        assert_eq!(found(&world.store, "Assam").0, ["a"]);
    }
}

#[test]
fn a_model_that_does_not_answer_holds_a_call_only_for_the_time_that_is_set() {
    let world = World::new();
    let store = world.reopened(Silent).with_embedding_time(Duration::from_millis(50));
    let begun = Instant::now();
    let written = write(&store, "a", "Buy Assam.\n");
    assert_eq!(
        written["not_embedded"],
        "1 part has no vector yet: the embedding model did not answer in time"
    );
    let (paths, problem) = found(&store, "Assam");
    assert_eq!(paths, ["a"]);
    assert!(problem.unwrap().ends_with("did not answer in time"));
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn a_text_that_the_model_refuses_does_not_hold_up_the_others() {
    let world = World::new();
    for number in 0..100 {
        let topic = if number == 37 { "poison" } else { "kitten" };
        let path = format!("{number:03}");
        world.store.write(&path, topic, OnConflict::Error, None).unwrap();
    }
    world.topics.does(|texts| match texts.iter().any(|it| it == "poison") {
        true => Err(EmbedderError::refused("poison")),
        false => Ok(texts.iter().map(|it| vector(it)).collect()),
    });
    let report = runtime().block_on(world.store.embed()).unwrap();
    assert_eq!((report.embedded, report.missing), (99, 1));
    let problem = "the embedding model refuses a text: poison";
    assert_eq!(report.problem.as_deref(), Some(problem));
    let before = world.topics.passages();
    let (paths, problem) = found(&world.store, "pet");
    assert_eq!(paths.len(), 10);
    let why = "1 part has no vector yet: the embedding model refuses them";
    assert_eq!(problem.as_deref(), Some(why));
    assert_eq!(world.topics.passages(), before, "it is not asked again about what it has refused");
}

#[test]
fn a_model_that_refused_everything_for_a_while_is_asked_again_about_each_text() {
    let world = World::new();
    for number in 0..10 {
        world
            .store
            .write(&format!("{number:03}"), &format!("kitten {number}"), OnConflict::Error, None)
            .unwrap();
    }
    world.topics.does(|_| Err(EmbedderError::refused("status 400")));
    paused().block_on(async {
        let embed = || async { world.store.embed().await.unwrap() };
        assert_eq!(embed().await.embedded, 0);
        world.topics.recovers();
        let asked = world.topics.passages();
        tokio::time::advance(Duration::from_mins(9)).await;
        assert_eq!((embed().await.missing, world.topics.passages()), (10, asked));
        tokio::time::advance(Duration::from_mins(2)).await;
        let report = embed().await;
        assert_eq!((report.embedded, report.missing, report.problem), (10, 0, None));
    });
}

#[test]
fn a_text_that_is_always_refused_is_asked_about_ever_less() {
    let world = World::new();
    world.store.write("a", "poison", OnConflict::Error, None).unwrap();
    world.topics.does(|_| Err(EmbedderError::refused("poison")));
    paused().block_on(async {
        for _ in 0..10 * 24 {
            world.store.embed().await.unwrap();
            tokio::time::advance(Duration::from_hours(1)).await;
        }
    });
    let asked = world.topics.passages();
    assert!((12..=20).contains(&asked), "{asked} times in ten days");
}

/// A runtime whose time stands still unless a test advances it.
fn paused() -> Runtime {
    Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
}

#[test]
fn a_text_whose_vector_has_no_direction_does_not_hold_up_the_others() {
    let world = World::new();
    for number in 0..100 {
        let topic = if number == 37 { "2026" } else { "kitten" };
        world.store.write(&format!("{number:03}"), topic, OnConflict::Error, None).unwrap();
    }
    world.topics.does(|texts| {
        let of = |text: &String| if text == "2026" { vec![0.0; 4] } else { vector(text) };
        Ok(texts.iter().map(of).collect())
    });
    let report = runtime().block_on(world.store.embed()).unwrap();
    assert_eq!((report.embedded, report.missing), (99, 1));
    assert!(report.problem.unwrap().contains("a vector without a direction"));
    assert_eq!(world.topics.passages(), 100);
    assert_eq!(found(&world.store, "pet").0.len(), 10);
    assert_eq!(world.topics.passages(), 100, "it is not asked again about that text");
    // A model that answers so about everything is asked again.
    let other = Topics::new("other");
    other.does(|texts| Ok(vec![vec![f32::NAN; 4]; texts.len()]));
    let store = world.reopened(other.clone());
    let report = runtime().block_on(store.embed()).unwrap();
    assert_eq!((report.embedded, report.missing), (0, 100));
    other.recovers();
    let report = runtime().block_on(store.embed()).unwrap();
    assert_eq!((report.embedded, report.missing, report.problem), (100, 0, None));
}

#[test]
fn a_text_at_which_the_server_always_fails_holds_up_its_batch_alone() {
    let world = World::new();
    for number in 0..200 {
        let topic = if number == 7 { "poison" } else { "kitten" };
        world.store.write(&format!("{number:03}"), topic, OnConflict::Error, None).unwrap();
    }
    world.topics.does(|texts| match texts.iter().any(|it| it == "poison") {
        true => Err(EmbedderError::unavailable("status 500")),
        false => Ok(texts.iter().map(|it| vector(it)).collect()),
    });
    let embed = || runtime().block_on(world.store.embed()).unwrap();
    assert_eq!((embed().missing, embed().missing, embed().missing), (200, 64, 64));
    world.topics.recovers();
    assert_eq!(embed().missing, 0);
}

#[test]
fn of_a_long_problem_the_beginning_is_shown_in_one_line() {
    let world = World::new();
    let problem = format!("busy\n\u{1b}[2J{}", "x".repeat(10_000));
    world.topics.does(move |_| Err(EmbedderError::unavailable(problem.clone())));
    let written = write(&world.store, "a", "Buy Assam.\n");
    let why = written["not_embedded"].as_str().unwrap();
    assert!(why.contains(r"busy\n\u{1b}[2Jxxx") && why.ends_with("x…"), "{why}");
    assert!(why.len() < 400 && found(&world.store, "Assam").1.unwrap().len() < 400, "{why}");
}

#[test]
fn a_text_is_stored_and_found_by_its_words_where_the_model_panics() {
    let world = World::new();
    world.topics.does(|_| panic!("the model is broken"));
    let written = write(&world.store, "a", "Buy Assam.\n");
    let why = written["not_embedded"].as_str().unwrap();
    assert!(why.ends_with("the embedding model cannot be used: it panicked"), "{why}");
    let (paths, problem) = found(&world.store, "Assam");
    assert_eq!(paths, ["a"]);
    assert!(problem.unwrap().ends_with("it panicked"));
}

#[test]
fn another_model_does_not_compare_the_vectors_of_the_first() {
    let world = World::new();
    write(&world.store, "a", "Buy Assam.\n");
    write(&world.store, "b", "A kitten.\n");
    let other = Topics::new("other");
    let store = world.reopened(other.clone());
    // It has the topics in another order, so that the first model's vectors would mislead it.
    other.does(|texts| Ok(texts.iter().map(|it| vector(it).into_iter().rev().collect()).collect()));
    assert_eq!(found(&store, "tea").0[0], "a");
    assert_eq!(other.passages(), 2);
    assert_eq!(found(&world.store, "pet").0[0], "b");
    assert_eq!(world.topics.passages(), 2, "the first model's vectors are still there");
    assert_eq!(world.vectors(), [("other (4)".to_owned(), 2), ("topics (4)".to_owned(), 2)]);
}

#[test]
fn a_text_that_is_replaced_while_it_is_embedded_does_not_leave_its_vector_to_another() {
    let world = World::new();
    let other = ContextStore::open(world.store.file()).unwrap();
    world.store.write("a", "Buy Assam.\n", OnConflict::Error, None).unwrap();
    // SQLite gives the number of the removed part to the part that replaces it.
    world.topics.does(move |texts| {
        other.write("a", "The kitten.\n", OnConflict::Overwrite, None).unwrap();
        Ok(texts.iter().map(|it| vector(it)).collect())
    });
    let report = runtime().block_on(world.store.embed()).unwrap();
    assert_eq!((report.embedded, report.missing), (0, 1));
    world.topics.recovers();
    write(&world.store, "b", "Assam.\n");
    assert_eq!(found(&world.store, "tea").0[0], "b");
}

#[test]
fn a_store_of_the_second_version_gets_vectors_for_the_parts_that_it_has() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("context.db");
    let old = rusqlite::Connection::open(&file).unwrap();
    old.execute_batch(include_str!("../../src/context/1.sql")).unwrap();
    old.execute_batch(include_str!("../../src/context/2.sql")).unwrap();
    old.execute_batch(
        "PRAGMA application_id = 0x74776378; PRAGMA user_version = 2;
         INSERT INTO entries VALUES (1, 'a', 1, 6, NULL);
         INSERT INTO versions VALUES (1, 1, 'Assam\n', 'h', NULL, 0, NULL);
         INSERT INTO chunks VALUES (1, 1, 1, 'Assam\n');",
    )
    .unwrap();
    drop(old);
    let store = ContextStore::open(&file).unwrap().with_embedder(Topics::new("topics"));
    assert_eq!(found(&store, "tea"), (vec!["a".to_owned()], None));
    let version = |file: &rusqlite::Connection| {
        file.pragma_query_value(None, "user_version", |row| row.get::<_, i32>(0)).unwrap()
    };
    assert_eq!(version(&rusqlite::Connection::open(&file).unwrap()), 3);
}

/// The variable by which a process knows that it is one of the two.
const SHARED: &str = "TOOLWRIGHT_TEST_SHARED_STORE";

#[test]
fn two_processes_that_write_and_embed_at_once_leave_one_vector_for_each_part() {
    let name = "context_embedder::two_processes_that_write_and_embed_at_once_leave_one_vector_for_each_part";
    if let Ok(shared) = std::env::var(SHARED) {
        let (file, process) = shared.rsplit_once(':').unwrap();
        let store = ContextStore::open(file).unwrap().with_embedder(Topics::new("topics"));
        for number in 0..30 {
            let path = format!("{process}/{number}");
            store.write(&path, "A kitten.\n", OnConflict::Error, None).unwrap();
            let report = runtime().block_on(store.embed()).unwrap();
            assert_eq!(report.problem, None);
        }
        return;
    }
    let world = World::new();
    let start = |process: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", name]).stdout(Stdio::null());
        command.env(SHARED, format!("{}:{process}", world.store.file().display()));
        command.spawn().unwrap()
    };
    for mut child in ["a", "b"].map(start) {
        assert!(child.wait().unwrap().success());
    }
    let report = runtime().block_on(world.store.embed()).unwrap();
    assert_eq!((report.embedded, report.missing), (0, 0));
    assert_eq!(world.vectors(), [("topics (4)".to_owned(), 60)]);
}

/// A server of embeddings, which answers as the last part of its path says.
fn server() -> Loopback {
    let two = r#"{"data":[{"index":1,"embedding":[0.0,2.0]},{"index":0,"embedding":[1.0,0.5]}]}"#;
    Loopback::of(move |path| {
        let case = path.strip_suffix("/embeddings")?.rsplit('/').next()?;
        let json = |status, body: &str| Some(answer(status, "application/json", body));
        match case {
            "v1" => json(200, two),
            "double" => json(200, &two.replace("\"index\":1", "\"index\":0")),
            "few" => json(200, r#"{"data":[{"index":0,"embedding":[1.0,0.5]}]}"#),
            "broken" => json(200, "{"),
            "huge" => json(200, &" ".repeat(9 << 20)),
            "slow" => {
                std::thread::sleep(Duration::from_secs(3));
                None
            }
            status => json(status.parse().ok()?, &std::env::var("PATH").unwrap()),
        }
    })
}

#[test]
fn a_server_with_the_api_of_openai_is_asked_for_vectors() {
    let server = server();
    let address = format!("http://127.0.0.1:{}/v1/", server.port);
    // A variable that every process has takes the place of a key.
    let embedder = HttpEmbedder::new(&address, "small", 2).unwrap().key_variable("PATH");
    let embedder = embedder.prefixes("stored: ", "query: ");
    let texts = ["tea".to_owned(), "honey".to_owned()];
    let embed = |embedder: &HttpEmbedder, purpose| {
        runtime().block_on(embedder.embed(&texts, purpose)).unwrap()
    };
    let vectors = embed(&embedder, EmbedPurpose::Passage);
    assert_eq!(vectors, [[1.0, 0.5], [0.0, 2.0]], "in the order of the texts");
    embed(&embedder.clone().without_key(), EmbedPurpose::Query);
    let sent: Vec<Value> =
        server.bodies().iter().map(|it| serde_json::from_str(it).unwrap()).collect();
    let body = |first: &str, second: &str| json!({"model": "small", "input": [first, second], "encoding_format": "float"});
    assert_eq!(sent, [body("stored: tea", "stored: honey"), body("query: tea", "query: honey")]);
    let requests = server.requests();
    let key = format!("authorization: Bearer {}", std::env::var("PATH").unwrap());
    assert!(requests[0].starts_with("POST /v1/embeddings "), "{}", requests[0]);
    assert!(requests[0].contains(&key), "{}", requests[0]);
    assert!(!requests[1].to_lowercase().contains("authorization"), "{}", requests[1]);
}

#[test]
fn an_error_of_a_server_says_what_failed_and_never_the_key() {
    let server = server();
    let key = std::env::var("PATH").unwrap();
    let cases = [
        ("double", "its answer does not have each text's vector once"),
        ("few", "answered with 1 vectors, expected 2"),
        ("broken", "its answer is not as the API says"),
        ("huge", "its answer has more than 8388608 bytes"),
        ("slow", "the server did not answer in time"),
        ("400", "refuses a text: the server answered with status 400"),
        ("401", "the server refuses the key in `PATH` (status 401)"),
        ("404", "status 404; check its address and the model `small`"),
        ("429", "cannot be used: the server answered with status 429"),
        ("302", "cannot be used: the server answered with status 302"),
    ];
    let error = |embedder: HttpEmbedder, texts: &[String]| {
        runtime().block_on(embedder.embed(texts, EmbedPurpose::Passage)).unwrap_err()
    };
    let of = |case: &str| {
        let address = format!("http://user:{SECRET}@127.0.0.1:{}/{case}", server.port);
        let embedder = HttpEmbedder::new(address, "small", 2).unwrap();
        // Only the slow answer is to exceed its time.
        let most = Duration::from_millis(if case == "slow" { 300 } else { 60_000 });
        embedder.key_variable("PATH").time(most)
    };
    let two = ["tea".to_owned(), "honey".to_owned()];
    for (case, expected) in cases {
        let error = error(of(case), &two);
        let words = format!("{error} {error:?} {}", chain(&error));
        assert!(words.contains(expected), "{case}: {words}");
        assert!(!words.contains(&key) && !words.contains(SECRET), "{case}: {words}");
    }
    let count = server.requests().len();
    let keyless = error(of("v1").key_variable("TOOLWRIGHT_TEST_HAS_NO_KEY"), &two);
    assert!(
        keyless
            .to_string()
            .ends_with("`TOOLWRIGHT_TEST_HAS_NO_KEY` is not set; set it to the key, or send none with `without_key`"),
        "{keyless}"
    );
    let large = error(of("v1"), &["a".repeat(2 << 20)]);
    assert!(matches!(large, EmbedderError::Refused { .. }), "{large}");
    assert_eq!(server.requests().len(), count, "neither was sent");
    let closed =
        HttpEmbedder::new(format!("http://user:{SECRET}@127.0.0.1:1"), "small", 2).unwrap();
    let closed = error(closed.without_key(), &two);
    let words = format!("{closed} {}", chain(&closed));
    assert!(words.contains("the server cannot be reached") && !words.contains(SECRET), "{words}");
}

#[test]
fn an_address_that_is_no_url_is_refused_at_once_and_a_credential_in_one_is_not_shown() {
    for address in ["", "localhost:11434", "api.example/v1", "http://"] {
        let refused = HttpEmbedder::new(address, "small", 2);
        let error = refused.expect_err(address).to_string();
        assert!(error.ends_with("expected one such as `https://api.openai.com/v1`"), "{error}");
    }
    let wrong = HttpEmbedder::new(format!("http://user:{SECRET}@:x/"), "small", 2).unwrap_err();
    assert!(!format!("{wrong} {wrong:?} {}", chain(&wrong)).contains(SECRET), "{wrong:?}");
    let embedder = HttpEmbedder::new(format!("http://user:{SECRET}@127.0.0.1/v1"), "small", 2);
    let shown = format!("{:?}", embedder.unwrap());
    assert!(shown.contains("small") && !shown.contains(SECRET), "{shown}");
}

/// A credential in an address.
const SECRET: &str = "hunter2";

fn chain(error: &dyn std::error::Error) -> String {
    std::iter::successors(error.source(), |it| it.source()).map(|it| format!("{it:?} ")).collect()
}
