//! The process of one server, in its own session and process group, from its start until the whole group has ended.
//!
//! ```text
//!   running ── it exits by itself ─────────────────────────────────▶ KILL to the rest of its group
//!     └────── its input is closed ── grace ──▶ TERM ── grace ──▶ KILL
//! ```

use std::io;
use std::process::Stdio;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::config::Program;
use super::said::ServerStderr;

/// How long a server has to end by itself after its input was closed, and again after `SIGTERM`.
const GRACE: Duration = Duration::from_secs(2);

/// The variables that every server gets if they are set, such as those for the user, the language and the paths of
/// programs. They include no keys and no tokens.
const PASSED_ON: [&str; 12] = [
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "SYSTEMROOT",
    "TEMP",
    "TMPDIR",
    "TZ",
    "USER",
];

/// A running server. Dropping this value ends the server.
#[derive(Debug)]
pub(super) struct Process {
    end: Option<oneshot::Sender<()>>,
    supervised: tokio::task::JoinHandle<()>,
    said: ServerStderr,
}

impl Process {
    pub(super) fn start(
        server: &str,
        config: &Program,
    ) -> io::Result<(Self, ChildStdout, ChildStdin)> {
        let mut command = Command::new(&config.command);
        command.args(&config.args).env_clear();
        let passed = PASSED_ON.into_iter().chain(config.pass.iter().map(String::as_str));
        command.envs(passed.filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.envs(&config.env);
        if let Some(folder) = &config.cwd {
            command.current_dir(folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut command = CommandWrap::from(command);
        #[cfg(unix)]
        command.wrap(process_wrap::tokio::ProcessSession);
        let mut group = Group(command.spawn()?);
        let (output, input) = (group.0.stdout().take(), group.0.stdin().take());
        let (Some(output), Some(input)) = (output, input) else {
            return Err(io::Error::other("the server's pipes are missing"));
        };
        let said = ServerStderr::default();
        if let Some(stream) = group.0.stderr().take() {
            tokio::spawn(said.clone().read(server.to_owned(), stream));
        }
        let (end, ended) = oneshot::channel();
        let supervised = tokio::spawn(supervise(group, ended));
        Ok((Self { end: Some(end), supervised, said }, output, input))
    }

    /// Returns the standard error of the server.
    pub(super) fn said(&self) -> &ServerStderr {
        &self.said
    }

    /// Ends the server, whose input was closed before, and waits until it has ended.
    pub(super) async fn end(mut self) {
        self.end = None;
        let _ = self.supervised.await;
    }
}

async fn supervise(mut group: Group, ended: oneshot::Receiver<()>) {
    tokio::select! {
        _ = group.0.wait() => {}
        // The future resolves when the sender is dropped.
        _ = ended => {
            if timeout(GRACE, group.0.wait()).await.is_err() {
                #[cfg(unix)]
                {
                    /// The number of the signal is the same on every Unix.
                    const TERM: i32 = 15;
                    let _ = group.0.signal(TERM);
                    let _ = timeout(GRACE, group.0.wait()).await;
                }
            }
        }
    }
    group.kill();
    let _ = group.0.wait().await;
}

/// A server and the processes that it has started, unless they have left its group.
#[derive(Debug)]
struct Group(Box<dyn ChildWrapper>);

impl Group {
    fn kill(&mut self) {
        // This fails if no process of the group is left.
        let _ = self.0.start_kill();
    }
}

/// Kills the process group if the runtime shuts down before the server has ended.
impl Drop for Group {
    fn drop(&mut self) {
        // Once the whole group has ended, its id may belong to other processes, so it must not be signalled.
        if matches!(self.0.try_wait(), Ok(None)) {
            self.kill();
        }
    }
}
