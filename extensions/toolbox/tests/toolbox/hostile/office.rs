//! The application that the agent runs in: a payment waits for Ada, whose key lies beside the journal.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;
use toolwright::approval::ApproverKey;
use toolwright::journal::{Journal, SqliteStore};
use toolwright::{
    Call, CallId, Executor, ExecutorBuilder, OnNoApprover, ProcessOutput, Registry, Run, tool,
};
use toolwright_toolbox::{BASH, SANDBOXED_BASH, Sandbox, SandboxedShell, Shell, Workspace};

use crate::bash::{folders, supervisor};
use crate::support::runtime;

/// What was paid.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<Vec<u32>>);

/// Pay money out.
#[tool(unlinked, approval = "it pays money out", effect = once, writes())]
async fn pay(
    ledger: &Ledger,
    /// How much.
    cents: u32,
) -> String {
    ledger.0.lock().unwrap().push(cents);
    format!("paid {cents}")
}

pub struct Office {
    folders: TempDir,
    run: Run,
    ledger: Arc<Ledger>,
    turn: AtomicU64,
    /// The payment that the agent wants.
    pub payment: CallId,
    pub server: TcpListener,
    pub datagrams: UdpSocket,
}

impl Office {
    /// Command lines have the rights of the application.
    pub fn open() -> Self {
        Self::with(folders(), |builder| builder.service(Shell::new(supervisor())), BASH)
    }

    /// Command lines run in a sandbox, which hides the folder of journal, policy and key.
    pub fn within(sandbox: Sandbox) -> Self {
        let folders = folders();
        let sandbox = sandbox.hide(folders.path().join("outside/hidden"));
        let shell = SandboxedShell::new(supervisor(), sandbox);
        Self::with(folders, |builder| builder.service(shell), SANDBOXED_BASH)
    }

    fn with(
        folders: TempDir,
        shell: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder,
        bash: toolwright::Handle,
    ) -> Self {
        let office = folders.path().join("outside/hidden");
        let key = ApproverKey::generate("ada").unwrap();
        key.save(office.join("ada.key")).unwrap();
        fs::write(office.join("policy.toml"), "version = 1\n").unwrap();
        let ledger = Arc::new(Ledger::default());
        let workspace = Workspace::open(folders.path().join("inside")).unwrap();
        runtime().block_on(async {
            let store = SqliteStore::open(office.join("calls.db")).await.unwrap();
            let builder = Executor::builder(Registry::of([PAY, bash]).unwrap())
                .unrestricted()
                .journal(
                    Journal::new(store)
                        .trust("ada", key.public())
                        .on_no_approver(OnNoApprover::Park),
                )
                .service_arc(Arc::clone(&ledger))
                .service(workspace);
            let executor = shell(builder).build().unwrap();
            let run = executor.run("ticket-1").start().unwrap();
            let calls = [Call::new("pay", r#"{"cents":4200}"#)];
            let payment = run.submit_turn(1, &calls).await.remove(0).suspended().unwrap().call;
            let server = TcpListener::bind("127.0.0.1:0").unwrap();
            server.set_nonblocking(true).unwrap();
            let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
            datagrams.set_nonblocking(true).unwrap();
            Self { folders, run, ledger, turn: AtomicU64::new(2), payment, server, datagrams }
        })
    }

    /// The agent runs a line; `None` if how it ended is not known.
    pub fn bash(&self, line: &str, seconds: u32) -> Option<ProcessOutput> {
        let input = json!({"command": line, "timeout_seconds": seconds}).to_string();
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let calls = [Call::new("bash", input)];
        let outcome = runtime().block_on(self.run.submit_turn(turn, &calls)).remove(0);
        serde_json::from_str(&outcome.answer()?.text()).ok()
    }

    /// Whether the payment happens when the application goes on.
    pub fn pays(&self) -> bool {
        runtime().block_on(async {
            let worker = self.run.worker().unwrap();
            worker.sweep().await.unwrap();
            worker.resume(self.payment).await;
        });
        !self.ledger.0.lock().unwrap().is_empty()
    }

    pub fn inside(&self, name: &str) -> PathBuf {
        self.folders.path().join("inside").join(name)
    }

    pub fn outside(&self, name: &str) -> PathBuf {
        self.folders.path().join("outside").join(name)
    }
}

/// The processes of this machine with a word in their arguments, by id.
fn with(word: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|it| it.file_name().into_string().ok());
    ids.filter(|id| id.bytes().all(|it| it.is_ascii_digit()))
        .filter(|id| {
            let arguments = fs::read(Path::new("/proc").join(id).join("cmdline"));
            String::from_utf8_lossy(&arguments.unwrap_or_default()).contains(word)
        })
        .collect()
}

/// Whether a process with this word goes on; it is ended then.
pub fn goes_on(word: &str) -> bool {
    let start = Instant::now();
    while !with(word).is_empty() {
        if start.elapsed() > Duration::from_secs(10) {
            for id in with(word) {
                let id = id.parse().ok().and_then(rustix::process::Pid::from_raw);
                let _ = rustix::process::kill_process(id.unwrap(), rustix::process::Signal::KILL);
            }
            return true;
        }
        thread::sleep(Duration::from_millis(20));
    }
    false
}
