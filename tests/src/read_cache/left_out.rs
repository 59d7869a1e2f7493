//! What is not answered from the cache: a call whose answer may depend on something that no footprint names.

use super::*;

use toolwright::{CancellationToken, DynamicTool, Effect, File, Footprint, Registry, ToolContext};

/// Whose call it is.
struct Ticket(u32);

/// Reads a file for a ticket.
#[tool(unlinked, effect = read, reads(file = path))]
async fn read_for_ticket(
    workspace: &Workspace,
    runs: &Runs,
    ticket: &Ticket,
    /// Which file.
    path: String,
) -> Result<String, ToolError> {
    runs.0.fetch_add(1, SeqCst);
    Ok(format!("{}: {}", ticket.0, workspace.read_text(&path)?))
}

/// Reads a file, unless nobody waits for it.
#[tool(unlinked, effect = read, reads(file = path))]
async fn read_patiently(
    workspace: &Workspace,
    runs: &Runs,
    context: &ToolContext,
    /// Which file.
    path: String,
) -> Result<String, ToolError> {
    runs.0.fetch_add(1, SeqCst);
    if context.is_cancelled() {
        return Err(ToolError::new("cancelled", "nobody waits"));
    }
    workspace.read_text(&path)
}

/// Reads no resource, such as the time.
#[tool(unlinked, effect = read, reads())]
async fn count_reads(runs: &Runs) -> u32 {
    runs.0.fetch_add(1, SeqCst)
}

/// Reads whatever it likes.
#[tool(unlinked, effect = read)]
async fn read_anything(runs: &Runs) -> u32 {
    runs.0.fetch_add(1, SeqCst)
}

/// Reads a file and counts that.
#[tool(unlinked, effect = idempotent, reads(file = path), writes())]
async fn read_and_count(
    runs: &Runs,
    workspace: &Workspace,
    /// Which file.
    path: String,
) -> Result<String, ToolError> {
    runs.0.fetch_add(1, SeqCst);
    workspace.read_text(&path)
}

const TOOLS: [Handle; 5] =
    [READ_FOR_TICKET, READ_PATIENTLY, COUNT_READS, READ_ANYTHING, READ_AND_COUNT];

fn scene(cache: ReadCache) -> (TempDir, Arc<Runs>, ExecutorBuilder) {
    let (folder, runs) = (tempfile::tempdir().unwrap(), Arc::<Runs>::default());
    write_long_ago(&folder.path().join("a.txt"), "one");
    let workspace = Workspace::open(folder.path()).unwrap();
    let builder =
        builder(TOOLS).service(workspace).service_arc(Arc::clone(&runs)).middleware(cache);
    (folder, runs, builder)
}

#[tokio::test]
async fn a_service_of_the_run_is_left_out_unless_it_is_declared_constant() {
    for (cache, expected) in [(ReadCache::new(), 4), (ReadCache::new().constant::<Ticket>(), 1)] {
        let (_folder, runs, builder) = scene(cache);
        let executor = builder.per_run::<Ticket>().build().unwrap();
        for ticket in [7, 7, 8, 8] {
            let run = executor.run("run").with(Ticket(ticket)).start().unwrap();
            let answer = run.call(&Call::new("read_for_ticket", r#"{"path":"a.txt"}"#)).await;
            assert_eq!(kind(&answer), "ok");
        }
        assert_eq!(runs.0.load(SeqCst), expected);
    }
}

#[tokio::test]
async fn a_service_of_the_call_is_left_out_unless_it_is_declared_constant() {
    for (cache, expected) in [(ReadCache::new(), 2), (ReadCache::new().constant::<Ticket>(), 1)] {
        let (_folder, runs, builder) = scene(cache);
        let executor = builder.per_call::<Ticket>().build().unwrap();
        for ticket in [7, 8] {
            let call = Call::new("read_for_ticket", r#"{"path":"a.txt"}"#).with(Ticket(ticket));
            assert_eq!(kind(&executor.call(&call).await), "ok");
        }
        assert_eq!(runs.0.load(SeqCst), expected);
    }
}

#[tokio::test]
async fn the_context_of_a_call_is_one_of_its_services() {
    for (cache, expected) in
        [(ReadCache::new(), 2), (ReadCache::new().constant::<ToolContext>(), 1)]
    {
        let (_folder, runs, builder) = scene(cache);
        let executor = builder.service(Ticket(7)).build().unwrap();
        for _ in 0..2 {
            let call = Call::new("read_patiently", r#"{"path":"a.txt"}"#);
            let call = call.cancelled_by(CancellationToken::new());
            assert_eq!(executor.call(&call).await.text(), "one");
        }
        assert_eq!(runs.0.load(SeqCst), expected);
    }
}

#[tokio::test]
async fn a_call_that_does_not_name_what_it_reads_or_does_more_is_made_again() {
    let cache = ReadCache::new();
    let (_folder, runs, builder) = scene(cache.clone());
    let executor = builder.service(Ticket(7)).build().unwrap();
    for (tool, arguments) in [
        ("count_reads", json!({})),
        ("read_anything", json!({})),
        ("read_and_count", json!({"path": "a.txt"})),
        ("read_for_ticket", json!({"path": "none"})),
    ] {
        call(&executor, tool, arguments.clone()).await;
        call(&executor, tool, arguments).await;
        assert_eq!((tool, runs.0.swap(0, SeqCst)), (tool, 2));
    }
    assert_eq!((cache.statistics().hits, cache.statistics().entries), (0, 0));
}

/// The times of a folder say nothing of the files below it.
#[tokio::test]
async fn a_search_in_a_folder_sees_what_has_changed_below_it() {
    let scene = super::Scene::new();
    let search = || call(&scene.executor, "grep", json!({"pattern": "three"}));
    assert!(search().await.text().contains("a.txt"));
    write_long_ago(&scene.path("a.txt"), "nothing");
    assert!(!search().await.text().contains("a.txt"));
}

#[tokio::test]
async fn another_user_and_another_definition_have_answers_of_their_own() {
    let scene = Scene::new();
    for user in ["ada", "bob", "ada"] {
        let run = scene.executor.run("run").user(user).start().unwrap();
        run.call(&Call::new("count_characters", r#"{"path":"a.txt"}"#)).await;
    }
    assert_eq!(scene.runs(), 2);
    scene.count("a.txt").await;
    assert_eq!(scene.runs(), 1, "of nobody");
    let registry = scene.executor.registry();
    registry.unregister("count_characters").unwrap();
    /// Counts the characters of a file, and says so in other words.
    #[tool(unlinked, name = "count_characters", effect = read, reads(file = path))]
    async fn count_otherwise(
        workspace: &Workspace,
        /// Which file.
        path: String,
    ) -> Result<usize, ToolError> {
        Ok(workspace.read_text(&path)?.len() * 1000)
    }
    registry.register(COUNT_OTHERWISE).unwrap();
    assert_eq!(scene.count("a.txt").await, "14000");
}

/// Two crates may each have such a function, with the same words.
mod of_another_shop {
    use super::*;

    /// Reads the price of a file.
    #[tool(unlinked, effect = read, reads(file = path))]
    pub async fn read_price(
        /// Which file.
        path: String,
    ) -> String {
        format!("{path}: 2 EUR")
    }
}

/// Reads the price of a file.
#[tool(unlinked, effect = read, reads(file = path))]
async fn read_price(
    /// Which file.
    path: String,
) -> String {
    format!("{path}: 1 EUR")
}

#[tokio::test]
async fn another_function_of_the_same_definition_has_answers_of_its_own() {
    let (folder, cache) = (tempfile::tempdir().unwrap(), ReadCache::new());
    let path = folder.path().join("a.txt");
    write_long_ago(&path, "one");
    for (tool, price) in
        [(READ_PRICE, "1 EUR"), (of_another_shop::READ_PRICE, "2 EUR"), (READ_PRICE, "1 EUR")]
    {
        let executor = builder([tool]).middleware(cache.clone()).build().unwrap();
        let answer = call(&executor, "read_price", json!({"path": path})).await;
        assert!(answer.text().ends_with(price), "{}", answer.text());
    }
    assert_eq!(cache.statistics().hits, 1);
}

#[tokio::test]
async fn another_run_time_tool_of_the_same_definition_has_answers_of_its_own() {
    let (folder, cache) =
        (tempfile::tempdir().unwrap(), ReadCache::new().constant::<ToolContext>());
    let path = folder.path().join("a.txt");
    write_long_ago(&path, "one");
    let reading = |server: &'static str| {
        let file = path.to_str().unwrap().to_owned();
        let schema = json!({"type": "object", "additionalProperties": false});
        let tool =
            DynamicTool::new("read", "Reads.", schema, move |_, _| async move { Ok(server) });
        let tool = tool
            .effect(Effect::Read)
            .footprint_by(move |_| Footprint::nothing().reading::<File>(&*file));
        Registry::of([tool]).unwrap()
    };
    let (one, other) = (reading("one"), reading("other"));
    for (registry, expected) in [(&one, "one"), (&other, "other"), (&one, "one")] {
        let executor =
            Executor::builder(registry.clone()).middleware(cache.clone()).build().unwrap();
        assert_eq!(call(&executor, "read", json!({})).await.text(), expected);
    }
    assert_eq!(cache.statistics().hits, 1);
}

#[tokio::test]
async fn an_answer_above_half_of_the_room_is_not_remembered() {
    /// Answers with so much text.
    #[tool(unlinked, effect = read, reads(file = path))]
    async fn read_much(
        /// Which file.
        path: String,
        /// How many bytes.
        bytes: usize,
        runs: &Runs,
    ) -> String {
        let _ = path;
        runs.0.fetch_add(1, SeqCst);
        "x".repeat(bytes)
    }
    let (folder, runs, cache) =
        (tempfile::tempdir().unwrap(), Arc::<Runs>::default(), ReadCache::new());
    let path = folder.path().join("a.txt");
    write_long_ago(&path, "one");
    let executor = builder([READ_MUCH]).service_arc(Arc::clone(&runs)).middleware(cache.clone());
    let executor = executor.build().unwrap();
    for (bytes, expected) in [(2_600_000, 1), (2_630_000, 2)] {
        for _ in 0..2 {
            call(&executor, "read_much", json!({"path": path, "bytes": bytes})).await;
        }
        assert_eq!(runs.0.swap(0, SeqCst), expected, "{bytes}");
    }
    let statistics = cache.statistics();
    assert!(statistics.bytes <= 5 * 1024 * 1024 && statistics.too_large == 2, "{statistics:?}");
}
