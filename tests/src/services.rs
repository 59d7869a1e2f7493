//! A tool gets the services that its signature names, and nothing else.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use toolwright::{BuildProblem, Call, ToolError, tool};

use crate::support::{Log, answer, builder, call, kind};

/// What an application was configured with.
struct Config {
    model: &'static str,
    project: PathBuf,
}

/// Says what it was configured with.
#[tool(effect = read)]
async fn say_config(config: &Config) -> String {
    format!("{} {}", config.model, config.project.is_absolute())
}

/// S0.18: the absolute folder of the project is a service that tools borrow.
/// S0.19: so is the resolved configuration.
#[tokio::test]
async fn configuration_and_project_folder_are_services_like_any_other() {
    let config = Config { model: "large", project: Path::new("/srv").join("project") };
    let executor = builder([SAY_CONFIG]).service(config).build().unwrap();
    assert_eq!(executor.call(&call("say_config")).await.text(), "large true");
}

/// A way to the network.
trait Fetch: Send + Sync {
    fn get(&self, url: &str) -> String;
}

struct Canned;

impl Fetch for Canned {
    fn get(&self, url: &str) -> String {
        format!("canned {url}")
    }
}

/// Fetches a page.
#[tool(effect = read)]
async fn fetch_page(
    fetch: &dyn Fetch,
    /// Which.
    url: String,
) -> String {
    fetch.get(&url)
}

/// Touches nothing.
#[tool(effect = read)]
async fn touch_nothing() {}

#[tokio::test]
async fn a_trait_object_is_a_service_too() {
    let fetch: std::sync::Arc<dyn Fetch> = std::sync::Arc::new(Canned);
    let executor = builder([FETCH_PAGE]).service_arc(fetch).build().unwrap();
    let answer = executor.call(&Call::new("fetch_page", r#"{"url":"a"}"#)).await;
    assert_eq!(answer.text(), "canned a");
}

/// S0.21: without a way to the network a tool that needs one cannot be built into an executor, and
/// one that names none is given none.
#[test]
fn a_tool_reaches_what_it_names_and_nothing_where_nobody_gives_it() {
    let error = builder([FETCH_PAGE, TOUCH_NOTHING]).build().unwrap_err();
    let [BuildProblem::Missing { tool, requirement, .. }] = error.problems.as_slice() else {
        panic!("{error}")
    };
    assert_eq!(tool, "fetch_page");
    assert!(requirement.type_name.contains("Fetch"));
    let executor = builder([TOUCH_NOTHING]).build().unwrap();
    assert!(executor.registry().get("touch_nothing").unwrap().requires.is_empty());
}

/// Triggers by id.
#[derive(Default)]
struct Triggers(Mutex<Vec<Trigger>>);

/// What is kept of a trigger.
struct Trigger {
    id: String,
    name: String,
    created_at: std::time::SystemTime,
}

/// Makes ids.
struct Ids(Mutex<u32>);

impl Ids {
    fn next(&self) -> String {
        let mut last = self.0.lock().unwrap();
        *last += 1;
        format!("trigger-{last}")
    }
}

/// Create a trigger.
#[tool(name = "trigger.create", group = "trigger")]
async fn create_trigger(
    triggers: &Triggers,
    ids: &Ids,
    context: &toolwright::ToolContext,
    /// What to call it.
    name: String,
) -> Result<String, ToolError> {
    let trigger = Trigger { id: ids.next(), name, created_at: context.now() };
    let id = trigger.id.clone();
    triggers.0.lock().unwrap().push(trigger);
    Ok(id)
}

/// S3.11: services come from a container by their type, which the signature names.
/// S3.21: a trigger is inserted with a fresh id and the time of its making.
/// S3.2: ids have the form `plugin.action`, such as `trigger.create`.
#[tokio::test]
async fn services_are_found_by_type_and_work_together() {
    let triggers = std::sync::Arc::new(Triggers::default());
    let executor = builder([CREATE_TRIGGER])
        .service_arc(triggers.clone())
        .service(Ids(Mutex::new(0)))
        .build()
        .unwrap();
    for (name, id) in [("daily", "trigger-1"), ("weekly", "trigger-2")] {
        let arguments = serde_json::json!({"name": name}).to_string();
        assert_eq!(executor.call(&Call::new("trigger.create", arguments)).await.text(), id);
    }
    let triggers = triggers.0.lock().unwrap();
    let names: Vec<&str> = triggers.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["daily", "weekly"]);
    assert_ne!(triggers[0].id, triggers[1].id);
    assert!(triggers.iter().all(|it| it.created_at != std::time::UNIX_EPOCH));
}

/// Whose turn it is.
struct User(&'static str);

/// Says who calls.
#[tool(effect = read)]
async fn say_user(user: &User) -> &'static str {
    user.0
}

#[tokio::test]
async fn a_service_of_the_run_is_the_runs_own() {
    let executor = builder([SAY_USER]).per_run::<User>().build().unwrap();
    let run = |user| executor.run(user).with(User(user)).start().unwrap();
    let (ada, bob) = (run("ada"), run("bob"));
    assert_eq!(ada.call(&call("say_user")).await.text(), "ada");
    assert_eq!(bob.call(&call("say_user")).await.text(), "bob");
    assert_eq!(kind(&executor.call(&call("say_user")).await), "no_run");
}

#[test]
fn a_run_names_what_it_lacks_and_what_it_was_given_too_much() {
    let executor = builder([SAY_USER]).per_run::<User>().build().unwrap();
    let error = executor.run("empty").with(7_u32).start().unwrap_err();
    assert!(error.missing[0].ends_with("User"));
    assert_eq!(error.unexpected, ["u32"]);
    let twice = executor.run("twice").with(User("a")).with(User("b")).start().unwrap_err();
    assert!(twice.missing.is_empty() && twice.unexpected[0].ends_with("User"));
}

#[tokio::test]
async fn a_service_of_the_call_is_the_calls_own() {
    let executor = builder([SAY_USER]).per_call::<User>().build().unwrap();
    assert_eq!(executor.call(&call("say_user").with(User("ada"))).await.text(), "ada");
    assert_eq!(executor.call(&call("say_user").with(User("bob"))).await.text(), "bob");
    let missing = executor.call(&call("say_user")).await;
    assert_eq!(kind(&missing), "missing_service");
    assert!(!missing.text().contains("User"));
}

#[tokio::test]
async fn a_service_of_the_call_that_nobody_declared_is_refused_and_not_ignored() {
    let executor = builder([TOUCH_NOTHING]).build().unwrap();
    let refused = executor.call(&call("touch_nothing").with(User("ada"))).await;
    assert_eq!(kind(&refused), "undeclared_service");
    assert!(!refused.text().contains("User"));
}

/// Where long work is kept.
struct Database {
    /// Held while somebody has it open.
    lock: tokio::sync::Mutex<u32>,
    log: Log,
}

/// Refreshes many items, one short use of the database each.
#[tool(effect = idempotent)]
async fn refresh_all(database: &Database) -> u32 {
    for item in 0..3 {
        let mut open = database.lock.lock().await;
        *open += 1;
        database.log.add(format!("refresh {item}"));
        drop(open);
        tokio::task::yield_now().await;
    }
    *database.lock.lock().await
}

/// Looks quickly.
#[tool(effect = read)]
async fn look_once(database: &Database) -> u32 {
    let open = database.lock.lock().await;
    database.log.add("look");
    *open
}

/// S0.17: a long-running tool borrows the way to the database and opens it when it needs it.
/// S0.24: each touch is wrapped on its own, so that others get their turn between two items.
#[tokio::test]
async fn a_long_tool_lets_others_at_the_database_between_its_items() {
    let log = Log::default();
    let database = Database { lock: tokio::sync::Mutex::new(0), log: log.clone() };
    let executor = builder([REFRESH_ALL, LOOK_ONCE]).service(database).build().unwrap();
    let (refreshed, _) =
        tokio::join!(answer(&executor, call("refresh_all")), answer(&executor, call("look_once")));
    assert_eq!(refreshed.text(), "3");
    let lines = log.lines();
    let at = |line: &str| lines.iter().position(|it| it == line).unwrap();
    assert!(at("refresh 0") < at("look") && at("look") < at("refresh 2"), "{lines:?}");
}

/// Picks words.
#[tool(effect = read)]
async fn pick_words(
    wanted: &(dyn Fn(&str) -> bool + Send + Sync),
    cut: &(dyn for<'a> Fn(&'a str) -> &'a str + Send + Sync),
    hooks: &Hooks<&'static str>,
    /// Among which.
    words: Vec<String>,
) -> String {
    let picked: Vec<&str> = words.iter().map(|it| cut(it)).filter(|it| wanted(it)).collect();
    let picked = picked.join(" ");
    hooks.0.iter().fold(picked, |picked, (_, hook)| hook(&picked).to_owned())
}

/// A function over text.
type Hook = fn(&str) -> &str;

/// Functions over text, each with its name.
struct Hooks<N>(Vec<(N, Hook)>);

#[tokio::test]
async fn a_function_over_references_is_a_service_like_any_other() {
    let wanted: std::sync::Arc<dyn Fn(&str) -> bool + Send + Sync> =
        std::sync::Arc::new(|word: &str| word.starts_with('a'));
    let cut: std::sync::Arc<dyn for<'a> Fn(&'a str) -> &'a str + Send + Sync> =
        std::sync::Arc::new(|word: &str| word.trim());
    let executor = builder([PICK_WORDS])
        .service_arc(wanted)
        .service_arc(cut)
        .service(Hooks(vec![("end", |text: &str| text.trim_end_matches('e'))]))
        .build()
        .unwrap();
    let answer = executor
        .call(&Call::new("pick_words", r#"{"words":[" apple","pear","ant ","axe"]}"#))
        .await;
    assert_eq!(answer.text(), "apple ant ax");
}
