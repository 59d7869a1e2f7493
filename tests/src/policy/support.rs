//! Tools of every danger, some of which name the files they touch.

use toolwright::policy::PolicyBuilder;
use toolwright::{Answer, Call, Executor, Handle, Registry, tool};

/// Reads a file.
#[tool(name = "pol_read", effect = read, group = "files", reads(file = path))]
pub async fn read_it(
    /// Which.
    path: String,
) -> String {
    format!("read {path}")
}

/// Writes a file.
#[tool(name = "pol_write", effect = idempotent, group = "files", tags("edit"), writes(file = path))]
pub async fn write_it(
    /// Which.
    path: String,
    /// Whether it may be there already.
    #[arg(default = false)]
    force: bool,
) -> String {
    format!("wrote {path} {force}")
}

/// Runs a command; nobody knows what it touches.
#[tool(name = "pol_shell", effect = once, danger = dangerous)]
pub async fn shell(
    /// Which.
    command: String,
) -> String {
    format!("ran {command}")
}

/// Counts letters.
#[tool(name = "pol_count", effect = read)]
pub async fn count(
    /// Of what.
    text: String,
) -> usize {
    text.chars().count()
}

pub const TOOLS: [Handle; 4] = [READ_IT, WRITE_IT, SHELL, COUNT];

pub fn executor(policy: PolicyBuilder) -> Executor {
    Executor::builder(Registry::of(TOOLS).unwrap()).policy(policy).build().unwrap()
}

pub async fn call(executor: &Executor, tool: &str, arguments: &str) -> Answer {
    executor.call(&Call::new(tool, arguments)).await
}
