//! The calls of a turn: what does not conflict runs side by side, what does keeps the model's order.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::Barrier;
use toolwright::journal::{Journal, MemoryStore};
use toolwright::{
    BeforeCall, Call, Executor, Middleware, MiddlewareCall, Registration, Registry, Run,
    ToolContext, ToolError, ToolEventKind, tool,
};
use toolwright_toolbox::{FILES, GLOB, GREP, LIST_FILES, READ_FILE, Workspace};

/// What happened, in order.
#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Log {
    fn add(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Looks at a file for a while.
#[tool(effect = read, reads(file = path), name = "look")]
async fn look(
    log: &Log,
    context: &ToolContext,
    /// Which file.
    path: String,
) -> String {
    log.add(format!("{path} read"));
    tokio::time::sleep(Duration::from_millis(20)).await;
    log.add(format!("{path} was read"));
    format!("{:?}.{:?}", context.turn(), context.index())
}

/// Changes a file for a while.
#[tool(effect = idempotent, writes(file = path), name = "change")]
async fn change(
    log: &Log,
    context: &ToolContext,
    /// Which file.
    path: String,
) -> Result<String, ToolError> {
    log.add(format!("{path} written"));
    tokio::time::sleep(Duration::from_millis(20)).await;
    log.add(format!("{path} was written"));
    if path.contains("panic") {
        panic!("as asked");
    }
    if path.contains("fail") {
        return Err(ToolError::new("failed", "as asked"));
    }
    Ok(format!("{:?}.{:?}", context.turn(), context.index()))
}

fn breaks(path: &str) -> &str {
    assert!(path != "bad", "a footprint that panics");
    path
}

/// Its footprint panics.
#[tool(effect = idempotent, writes(file = breaks(&path)), name = "odd")]
async fn odd(
    /// Which file.
    path: String,
) -> String {
    path
}

fn run_of(log: &Arc<Log>, journaled: bool) -> Run {
    let registry = Registry::of([LOOK, CHANGE, ODD]).unwrap();
    let builder = Executor::builder(registry).unrestricted().service_arc(Arc::clone(log));
    let builder = if journaled {
        builder.journal(
            Journal::new(MemoryStore::new()).on_no_approver(toolwright::OnNoApprover::Park),
        )
    } else {
        builder
    };
    builder.build().unwrap().run("r").start().unwrap()
}

fn call(tool: &'static str, path: &str) -> Call<'static> {
    Call::new(tool, format!(r#"{{"path":"{path}"}}"#))
}

/// What the calls did, with and without a journal.
async fn made(calls: &[Call<'_>]) -> [(Vec<String>, Vec<String>); 2] {
    let mut made = Vec::new();
    for journaled in [false, true] {
        let log = Arc::new(Log::default());
        let turn = run_of(&log, journaled).turn(1, calls).await.unwrap();
        let texts = turn.answers().iter().map(|it| it.text().into_owned()).collect();
        made.push((log.lines(), texts));
    }
    made.try_into().unwrap()
}

/// S1.39, S1.40
#[tokio::test(start_paused = true)]
async fn calls_that_do_not_conflict_run_at_once_and_answer_in_their_order() {
    for (lines, texts) in made(&[call("look", "a"), call("change", "b"), call("look", "c")]).await {
        assert_eq!(lines[..3], ["a read", "b written", "c read"]);
        assert_eq!(texts, ["Some(1).Some(0)", "Some(1).Some(1)", "Some(1).Some(2)"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_read_after_a_write_begins_when_the_write_has_ended() {
    for (lines, _) in made(&[call("look", "b"), call("change", "a"), call("look", "./a")]).await {
        assert_eq!(lines[2..], ["b was read", "a was written", "./a read", "./a was read"]);
    }
}

/// S1.44, S1.45
#[tokio::test(start_paused = true)]
async fn two_writes_of_one_file_keep_their_order_however_it_is_spelt() {
    let calls = [call("change", "a.ts"), call("change", "./a.ts"), call("change", "b.ts")];
    for (lines, _) in made(&calls).await {
        let first = ["a.ts written", "b.ts written", "a.ts was written"];
        assert_eq!(lines[..3], first);
        assert_eq!(lines.last().unwrap(), "./a.ts was written");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_fails_or_panics_stops_no_other() {
    let calls =
        [call("change", "fail"), call("change", "panic"), call("look", "a"), call("look", "fail")];
    for (lines, texts) in made(&calls).await {
        assert!(lines.contains(&"a was read".to_owned()));
        assert_eq!(lines.last().unwrap(), "fail was read", "it waits for the failed call");
        assert_eq!(texts[2..], ["Some(1).Some(2)", "Some(1).Some(3)"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_with_wrong_input_waits_for_no_other_and_none_for_it() {
    let calls = [call("change", "a"), Call::new("change", r#"{"pfad":1}"#), call("look", "b")];
    for (lines, texts) in made(&calls).await {
        assert_eq!(lines[..2], ["a written", "b read"]);
        assert!(texts[1].contains("path"), "{}", texts[1]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_footprint_panics_runs_alone() {
    let calls = [call("look", "a"), call("odd", "bad"), call("look", "b")];
    for (lines, texts) in made(&calls).await {
        assert_eq!(texts[1], "bad");
        assert_eq!(lines, ["a read", "a was read", "b read", "b was read"]);
    }
}

/// Where the policy looks at what a call touches, the panic is the answer of its call.
#[tokio::test]
async fn a_footprint_that_panics_where_it_is_judged_is_an_answer_of_its_call() {
    let policy = toolwright::policy::Policy::builder().mode(toolwright::policy::Mode::AutoSafe);
    let builder = Executor::builder(Registry::of([LOOK, ODD]).unwrap()).policy(policy);
    let run = builder.service(Log::default()).build().unwrap().run("r").start().unwrap();
    let calls = [call("odd", "bad"), call("look", "a")];
    let turn = run.turn(1, &calls).await.unwrap();
    assert_eq!(turn.answers()[0].error().unwrap().kind(), "panic");
    assert!(!turn.answers()[1].is_error());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waited_says_for_how_long() {
    let (log, waits) = (Arc::new(Log::default()), Arc::new(Log::default()));
    let seen = Arc::clone(&waits);
    let registry = Registry::of([LOOK, CHANGE]).unwrap();
    let builder = Executor::builder(registry).unrestricted().service_arc(log);
    let executor = builder.listen(move |event| {
        if let ToolEventKind::Waited { waited } = event.kind {
            seen.add(format!("{} {}", event.tool, waited.as_millis() / 10));
        }
    });
    let run = executor.build().unwrap().run("r").start().unwrap();
    run.turn(1, &[call("change", "a"), call("look", "a"), call("look", "b")]).await.unwrap();
    assert_eq!(waits.lines(), ["look 2"]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_dropped_begins_nothing_more() {
    let log = Arc::new(Log::default());
    let run = run_of(&log, true);
    let calls = [call("change", "a"), call("change", "a")];
    let turn = run.turn(1, &calls);
    assert!(tokio::time::timeout(Duration::from_millis(10), turn).await.is_err());
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(log.lines(), ["a written"]);
}

#[tokio::test(start_paused = true)]
async fn an_open_turn_begins_reads_at_once_and_writes_when_it_is_complete() {
    for journaled in [false, true] {
        let log = Arc::new(Log::default());
        let mut turn = run_of(&log, journaled).open_turn(4);
        turn.push(call("look", "a"));
        turn.push(call("change", "b"));
        turn.push(call("look", "b"));
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(log.lines(), ["a read", "a was read"]);
        let answers = turn.finish().await.unwrap();
        let texts: Vec<_> = answers.answers().iter().map(|it| it.text().into_owned()).collect();
        assert_eq!(texts, ["Some(4).Some(0)", "Some(4).Some(1)", "Some(4).Some(2)"]);
        assert_eq!(log.lines()[2..], ["b written", "b was written", "b read", "b was read"]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_open_turn_that_is_dropped_cancels_what_it_has_begun() {
    let log = Arc::new(Log::default());
    let mut turn = run_of(&log, false).open_turn(1);
    turn.push(call("look", "a"));
    tokio::time::sleep(Duration::from_millis(5)).await;
    drop(turn);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(log.lines(), ["a read"]);
}

/// Lets a call begin when as many others have come as it waits for.
struct Meet(Barrier);

impl Middleware for Meet {
    fn before<'a>(&'a self, call: &'a MiddlewareCall<'a>) -> BoxFuture<'a, BeforeCall> {
        Box::pin(async move {
            // Where calls run one after the other, the first waits for ever: it fails instead of hanging.
            match tokio::time::timeout(Duration::from_secs(20), self.0.wait()).await {
                Ok(_) => BeforeCall::Continue,
                Err(_) => {
                    let message = format!("`{}` ran alone", call.definition().name);
                    BeforeCall::Refuse(ToolError::new("alone", message))
                }
            }
        })
    }
}

/// S1.41, S1.42: the reads of the toolbox run side by side, under their own names and under others: each call of the turn
/// begins before any of them ends.
#[tokio::test]
async fn the_reads_of_the_toolbox_run_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.rs"), "fn a() {}\n").unwrap();
    let reads = [READ_FILE, GLOB, GREP, LIST_FILES].into_iter().map(Registration::from);
    let others = [("search_code", GREP), ("search_files", GLOB), ("get_file_info", READ_FILE)];
    let others = others.into_iter().map(|(name, tool)| Registration::from(tool).renamed(name));
    let calls = [
        ("read_file", r#"{"path":"a.rs"}"#),
        ("glob", r#"{"pattern":"*.rs"}"#),
        ("grep", r#"{"pattern":"fn"}"#),
        ("list_files", "{}"),
        ("search_code", r#"{"pattern":"fn"}"#),
        ("search_files", r#"{"pattern":"*.rs"}"#),
        ("get_file_info", r#"{"path":"./a.rs"}"#),
    ];
    let executor = Executor::builder(Registry::of(reads.chain(others)).unwrap()).unrestricted();
    let executor = executor.service(Workspace::open(folder.path()).unwrap());
    let executor = executor.middleware(Meet(Barrier::new(calls.len()))).build().unwrap();
    let calls = calls.map(|(tool, input)| Call::new(tool, input));
    let turn = executor.run("r").start().unwrap().turn(1, &calls).await.unwrap();
    for answer in turn.answers() {
        assert!(!answer.is_error() && answer.text().contains("a.rs"), "{}", answer.text());
    }
}

/// The tools of the toolbox on a tree of files.
#[tokio::test]
async fn a_read_after_a_write_sees_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.rs"), "fn before() {}\n").unwrap();
    let names = [("grep", "search_code"), ("glob", "search_files"), ("read_file", "get_file_info")];
    let tools = FILES.into_iter().map(|tool| {
        let tool = Registration::from(tool);
        let other = names.iter().find(|(name, _)| tool.name() == *name);
        match other {
            Some((_, other)) => tool.renamed(*other),
            None => tool,
        }
    });
    let workspace = Workspace::open(folder.path()).unwrap();
    let executor = Executor::builder(Registry::of(tools).unwrap()).unrestricted();
    let executor = executor.service(workspace).build().unwrap();
    let calls = [
        Call::new("write_file", r#"{"path":"a.rs","content":"fn after() {}\n"}"#),
        Call::new("get_file_info", r#"{"path":"./a.rs"}"#),
        Call::new("search_code", r#"{"pattern":"fn \\w+"}"#),
        Call::new("search_files", r#"{"pattern":"*.rs"}"#),
    ];
    let turn = executor.run("r").start().unwrap().turn(1, &calls).await.unwrap();
    let texts: Vec<_> = turn.answers().iter().map(|it| it.text().into_owned()).collect();
    for text in &texts[1..3] {
        assert!(text.contains("after") && !text.contains("before"), "{texts:?}");
    }
    assert!(texts[3].contains("a.rs"), "{texts:?}");
}
