//! The change log and calls that do not come to their end: delayed, stopped, cancelled.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, ready};
use tempfile::TempDir;
use toolwright::policy::{Mode, Policy};
use toolwright::{
    Answer, BeforeCall, Call, CancellationToken, ErrorClass, Executor, Middleware, MiddlewareCall,
    Registry, ToolError, tool,
};
use toolwright_toolbox::{CHANGES, ChangeLog, Workspace};

use crate::support::runtime;

/// The two ends of a call that waits: it says that it has begun, and goes on when it may.
struct Waits {
    begun: Sender<()>,
    go_on: Mutex<Receiver<()>>,
    ended: Sender<()>,
}

/// Write a file when it may.
#[tool(unlinked, effect = once, writes(file = path), blocking)]
fn write_late(
    workspace: &Workspace,
    waits: &Waits,
    /// Which file.
    path: String,
) -> Result<&'static str, ToolError> {
    let _ = waits.begun.send(());
    let _ = waits.go_on.lock().unwrap_or_else(PoisonError::into_inner).recv();
    workspace.write(&path, b"late")?;
    let _ = waits.ended.send(());
    Ok("written")
}

/// Delays every call of a tool until it is open.
struct Closed(Arc<AtomicBool>);

impl Middleware for Closed {
    fn before<'a>(&'a self, call: &'a MiddlewareCall<'a>) -> BoxFuture<'a, BeforeCall> {
        let is_open = self.0.load(Ordering::SeqCst) || call.definition().name != "write_late";
        let class = ErrorClass::NotStarted { retry_after: Some(Duration::from_millis(10)) };
        Box::pin(ready(match is_open {
            true => BeforeCall::Continue,
            false => {
                BeforeCall::Refuse(ToolError::new("busy", "another call writes it").class(class))
            }
        }))
    }
}

/// A folder, its log, and an executor whose last stage may delay a call.
struct Desk {
    around: TempDir,
    executor: Executor,
    is_open: Arc<AtomicBool>,
    begun: Receiver<()>,
    go_on: Sender<()>,
    ended: Receiver<()>,
}

impl Desk {
    fn new(timeout: Option<Duration>) -> Self {
        let around = TempDir::new().unwrap();
        fs::create_dir(around.path().join("work")).unwrap();
        let workspace = Arc::new(Workspace::open(around.path().join("work")).unwrap());
        let log = ChangeLog::open(around.path().join("log"), Arc::clone(&workspace)).unwrap();
        let ((begin, begun), (go_on, may), (end, ended)) = (channel(), channel(), channel());
        let is_open = Arc::new(AtomicBool::new(true));
        let executor =
            Executor::builder(Registry::of([WRITE_LATE].into_iter().chain(CHANGES)).unwrap())
                .policy(Policy::builder().mode(Mode::Unrestricted).base(workspace.root()))
                .service_arc(workspace)
                .service(Waits { begun: begin, go_on: Mutex::new(may), ended: end })
                .middleware(log.clone())
                .middleware(Closed(Arc::clone(&is_open)))
                .service(log)
                .timeout(timeout)
                .build()
                .unwrap();
        fs::write(around.path().join("work/a"), "before").unwrap();
        Self { around, executor, is_open, begun, go_on, ended }
    }

    fn path(&self) -> PathBuf {
        self.around.path().join("work/a")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    async fn undo(&self) -> Answer {
        self.executor.call(&Call::new("undo_file", r#"{"path":"a"}"#)).await
    }
}

fn write() -> Call<'static> {
    Call::new("write_late", r#"{"path":"a"}"#)
}

/// Its stage stands before the one that delays.
#[test]
fn what_a_person_writes_while_a_call_is_delayed_is_not_blamed_on_it() {
    runtime().block_on(async {
        let desk = Desk::new(None);
        desk.is_open.store(false, Ordering::SeqCst);
        let answer = desk.executor.call(&write()).await;
        assert!(answer.is_error(), "{answer:?}");
        fs::write(desk.path(), "of a person").unwrap();
        // The row is removed beside the call.
        let undone = loop {
            let undone = desk.undo().await;
            match undone.error().map(ToolError::kind) {
                Some("busy") => tokio::task::yield_now().await,
                _ => break undone,
            }
        };
        assert_eq!(undone.error().map(ToolError::kind), Some("not_found"), "{undone:?}");
        assert_eq!(desk.text(), "of a person");
    });
}

#[test]
fn what_a_tool_writes_after_its_call_was_stopped_can_be_undone() {
    runtime().block_on(async {
        let desk = Desk::new(Some(Duration::from_secs(2)));
        let answer = desk.executor.call(&write()).await;
        assert_eq!(answer.error().map(ToolError::kind), Some("timeout"), "{answer:?}");
        desk.begun.recv().unwrap();
        desk.go_on.send(()).unwrap();
        desk.ended.recv().unwrap();
        assert_eq!(desk.text(), "late");
        let undone = desk.undo().await;
        assert!(!undone.is_error(), "{undone:?}");
        assert_eq!(desk.text(), "before");
    });
}

#[test]
fn what_a_tool_writes_after_its_call_was_cancelled_can_be_undone() {
    runtime().block_on(async {
        let desk = Desk::new(None);
        let token = CancellationToken::new();
        let call = write().cancelled_by(token.clone());
        let cancelled = async {
            while desk.begun.try_recv().is_err() {
                tokio::task::yield_now().await;
            }
            token.cancel();
        };
        let (answer, ()) = futures::join!(desk.executor.call(&call), cancelled);
        assert_eq!(answer.error().map(ToolError::kind), Some("cancelled"), "{answer:?}");
        desk.go_on.send(()).unwrap();
        desk.ended.recv().unwrap();
        let undone = desk.undo().await;
        assert!(!undone.is_error(), "{undone:?}");
        assert_eq!(desk.text(), "before");
    });
}
