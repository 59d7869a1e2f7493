//! The order of the ten steps: as a call that passes all of them sees it, and by the step that stops a call which later steps
//! would stop too.

use std::fs;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::{BoxFuture, FutureExt as _};
use tempfile::TempDir;
use toolwright::approval::{ApprovalRequest, Approver, ApproverError, Reply, Response};
use toolwright::journal::MemoryStore;
use toolwright::policy::{ArgumentTest, Mode, Policy, PolicyBuilder, Rule};
use toolwright::{
    AfterCall, Answer, BeforeCall, Call, Executor, File, Footprint, Middleware, MiddlewareCall,
    Registry, ToolEventKind, tool,
};

use super::TenSteps;
use crate::{ChangeLog, Workspace};

/// What happened, in order.
#[derive(Debug, Clone, Default)]
struct Trace(Arc<Mutex<Vec<String>>>);

impl Trace {
    fn add(&self, what: impl Into<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(what.into());
    }

    /// Waits until this has happened.
    async fn has(&self, what: &str) {
        let has =
            || self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|it| it == what);
        while !has() {
            tokio::task::yield_now().await;
        }
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A stage that says when the one inside it looks.
struct SpyStage {
    name: &'static str,
    inside: Arc<dyn Middleware>,
    trace: Trace,
}

impl Middleware for SpyStage {
    fn before<'a>(&'a self, call: &'a MiddlewareCall<'a>) -> BoxFuture<'a, BeforeCall> {
        async move {
            self.trace.add(format!("{} looks", self.name));
            match self.inside.before(call).await {
                BeforeCall::Then(after) => BeforeCall::Then(Box::new(SpyAfter {
                    name: self.name,
                    inside: after,
                    trace: self.trace.clone(),
                })),
                other => other,
            }
        }
        .boxed()
    }
}

struct SpyAfter {
    name: &'static str,
    inside: Box<dyn AfterCall>,
    trace: Trace,
}

impl AfterCall for SpyAfter {
    fn during(&mut self) -> BoxFuture<'_, ()> {
        self.inside.during()
    }

    fn after<'a>(
        self: Box<Self>,
        call: &'a MiddlewareCall<'a>,
        answer: &'a Answer,
    ) -> BoxFuture<'a, Option<Answer>> {
        async move {
            let answer = self.inside.after(call, answer).await;
            self.trace.add(format!("{} ends", self.name));
            answer
        }
        .boxed()
    }

    fn not_begun(self: Box<Self>) {
        self.inside.not_begun();
    }
}

/// Approves, and says so.
struct Agrees(Trace);

impl Approver for Agrees {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Result<Reply, ApproverError>> {
        self.0.add("permission");
        async { Ok(Reply::Decided(Response::Approve)) }.boxed()
    }
}

/// Writes a file of JSON that is not whole.
#[tool(unlinked, name = "half", effect = idempotent, writes(file = path))]
async fn write_half(
    workspace: &Workspace,
    trace: &Trace,
    /// Which.
    path: String,
) -> Result<(), toolwright::ToolError> {
    trace.add("execute");
    workspace.write(&path, b"[1, 2").map(drop)
}

/// Reads a file.
#[tool(unlinked, name = "look", effect = read, reads(file = path))]
async fn look(
    workspace: &Workspace,
    trace: &Trace,
    /// Which.
    path: String,
) -> Result<String, toolwright::ToolError> {
    trace.add("execute");
    workspace.read_text(&path)
}

struct Scene {
    around: TempDir,
    trace: Trace,
    reservations: toolwright_middleware::Reservations,
    executor: Executor,
}

/// The steps as an executor has them, with each stage spied upon.
fn scene(policy: impl FnOnce(PolicyBuilder) -> PolicyBuilder) -> Scene {
    let around = TempDir::new().expect("a folder");
    fs::create_dir(around.path().join("work")).expect("made");
    let workspace = Arc::new(Workspace::open(around.path().join("work")).expect("opened"));
    let log = ChangeLog::open(around.path().join("changes.db"), Arc::clone(&workspace));
    let log = log.expect("opened");
    let trace = Trace::default();
    let registry = Registry::of([WRITE_HALF, LOOK]).expect("two tools");
    let heard = trace.clone();
    let builder = Executor::builder(registry).listen(move |event| match event.kind {
        ToolEventKind::Judged { .. } => heard.add("policy"),
        ToolEventKind::Reserved { .. } => heard.add("reserved"),
        ToolEventKind::Cached => heard.add("answered from the cache"),
        _ => {}
    });
    let builder = builder.journal(MemoryStore::new()).ask(Agrees(trace.clone()));
    let deny = Rule::deny("never").argument("/path", ArgumentTest::glob(["denied*"]));
    let policy = policy(Policy::builder().mode(Mode::Interactive).rule(deny));
    let reservations = toolwright_middleware::Reservations::new();
    let steps = TenSteps::new(workspace, log).reservations(&reservations);
    let spied = trace.clone();
    let builder = steps.install_as(builder.policy(policy), move |name, inside| {
        Arc::new(SpyStage { name, inside, trace: spied.clone() })
    });
    let executor = builder.service(trace.clone()).build().expect("built");
    Scene { around, trace, reservations, executor }
}

impl Scene {
    async fn call(&self, tool: &str, path: &str) -> (String, Vec<String>) {
        let input = format!(r#"{{"path":"{path}"}}"#);
        let run = self.executor.run("r").start().expect("started");
        let answer = run.call(&Call::new(tool, input.as_str())).await;
        (answer.text().into_owned(), self.trace.take())
    }

    /// Another run holds a file.
    fn reserve(&self, path: &str) {
        let footprint = Footprint::nothing().writing::<File>(path);
        self.reservations.reserve("other", &footprint).expect("free");
    }
}

#[tokio::test]
async fn a_call_passes_the_ten_steps_in_their_order() {
    let scene = scene(|policy| policy);
    let (answer, trace) = scene.call("half", "a.json").await;
    assert_eq!(
        trace,
        [
            // 1 to 3: plan mode, rules, and mode with protections.
            "policy",
            // 4
            "permission",
            // 5
            "reservation looks",
            "syntax check looks",
            // 6
            "cache looks",
            "record looks",
            // 7
            "execute",
            // 8
            "record ends",
            // 9
            "cache ends",
            // 10
            "syntax check ends",
            "reservation ends",
        ]
    );
    assert!(answer.contains("missing `]`"), "{answer}");
}

/// Each call is stopped by one step, and would be by all that come after it.
#[tokio::test]
async fn the_first_step_that_stops_a_call_keeps_it_from_those_after_it() {
    let planned = scene(|policy| policy.plan(true));
    planned.reserve("a.json");
    let (answer, trace) = planned.call("half", "a.json").await;
    assert!(answer.contains("was put into the plan"), "{answer}");
    assert_eq!(trace, ["policy"], "1: no one is asked, nothing is reserved");
    let (answer, trace) = planned.call("half", "denied.json").await;
    assert!(answer.contains("never"), "a denial comes before the plan: {answer}");
    assert_eq!(trace, ["policy"]);

    let scene = scene(|policy| policy);
    let (answer, trace) = scene.call("half", "denied.json").await;
    assert!(answer.contains("never") && trace == ["policy"], "2: {answer} {trace:?}");
    let (answer, trace) = scene.call("half", "../changes.db").await;
    assert!(
        answer.contains("the journal is written") && trace == ["policy"],
        "3: {answer} {trace:?}"
    );

    scene.reserve("b.json");
    fs::write(scene.around.path().join("work/b.json"), "[]").expect("written");
    // A reserved call is due again later, for which this test does not wait.
    let run = scene.executor.run("r").start().expect("started");
    let call = Call::new("half", r#"{"path":"b.json"}"#);
    tokio::select! {
        answer = run.call(&call) => panic!("5: {}", answer.text()),
        () = scene.trace.has("reserved") => {}
    }
    assert_eq!(scene.trace.take(), ["policy", "permission", "reservation looks", "reserved"]);
}
