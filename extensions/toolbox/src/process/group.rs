//! One program in its own process group, from its start to the end of the whole group.
//!
//! ```text
//!  running ── it exits ──────────────────────────────▶ KILL to what it left in its group ─▶ ended
//!     └────── time is up, or the call was given up ──▶ TERM ── grace ──▶ KILL ────────────▶ ended
//! ```
//!
//! A task supervises the group, so that even a dropped call ends it with a grace period. When the runtime shuts down, it drops
//! the task, and the group is killed at once.

use std::ffi::OsString;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::process::Command;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::executors::{ProcessEnd, ProcessRequest, RunningProcess, Streams};
use super::printed::PrintedOutput;

/// How long a program may take to end after TERM, before it gets KILL.
pub(super) const GRACE: Duration = Duration::from_secs(2);

/// How long the output is still read after the program has ended, since a process in another session may hold it open.
pub(super) const DRAIN: Duration = Duration::from_millis(500);

/// Starts a program and ends its group when the returned future is dropped.
pub(super) fn start(
    vector: &[OsString],
    request: &ProcessRequest<'_>,
) -> io::Result<RunningProcess> {
    let [program, arguments @ ..] = vector else { return Err(io::ErrorKind::InvalidInput.into()) };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(request.folder)
        .env_clear()
        .envs(request.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut command = CommandWrap::from(command);
    // A new session is also a new group and has no terminal. Through a terminal, the program could type answers for the
    // person at the terminal of this process.
    #[cfg(unix)]
    command.wrap(process_wrap::tokio::ProcessSession);
    let group = Group(command.spawn()?);
    let (held, given_up) = oneshot::channel::<()>();
    let ended = tokio::spawn(supervise(group, request.limit, request.streams, given_up));
    Ok(Box::pin(async move {
        let _held = held;
        ended.await.map_err(io::Error::other)?
    }))
}

async fn supervise(
    mut group: Group,
    limit: Duration,
    streams: Streams,
    given_up: oneshot::Receiver<()>,
) -> io::Result<ProcessEnd> {
    let printed = PrintedOutput::new(streams);
    let (output, errors) = (group.0.stdout().take(), group.0.stderr().take());
    let reading = printed.read(output, errors);
    let ending = async {
        let exited = tokio::select! {
            status = group.wait_for_exit() => Some(status?),
            () = tokio::time::sleep(limit) => None,
            _ = given_up => None,
        };
        let status = match exited {
            Some(status) => status,
            None => group.terminate().await?,
        };
        group.kill();
        // A process with the id 1 and a subreaper adopt what a program leaves, and reap it here.
        let _ = timeout(GRACE, group.0.wait()).await;
        io::Result::Ok((status, exited.is_none()))
    };
    let (mut reading, mut ending) = (std::pin::pin!(reading), std::pin::pin!(ending));
    let (status, timed_out) = tokio::select! {
        ended = &mut ending => {
            let ended = ended?;
            // Do not wait for processes that still hold the output open.
            let _ = timeout(DRAIN, reading).await;
            ended
        }
        _ = &mut reading => ending.await?,
    };
    let (output, errors) = printed.finish();
    Ok(ProcessEnd { status: Some(status), timed_out, output, errors, folder: None })
}

/// A program and the processes that it has started, except those that have left the group.
#[derive(Debug)]
struct Group(Box<dyn ChildWrapper>);

impl Group {
    /// Waits for the program itself. What it has started in its group may run on.
    async fn wait_for_exit(&mut self) -> io::Result<ExitStatus> {
        self.0.inner_mut().wait().await
    }

    /// Sends TERM, waits for the grace period, and sends KILL.
    async fn terminate(&mut self) -> io::Result<ExitStatus> {
        #[cfg(unix)]
        {
            /// The number of SIGTERM, which is the same on every Unix.
            const TERM: i32 = 15;
            // This fails if the program has ended by itself meanwhile.
            let _ = self.0.signal(TERM);
            if let Ok(status) = timeout(GRACE, self.wait_for_exit()).await {
                return status;
            }
        }
        self.kill();
        self.wait_for_exit().await
    }

    /// Kills all processes that are left in the group.
    fn kill(&mut self) {
        // This fails if no process is left.
        let _ = self.0.start_kill();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Once the whole group has ended, its id may belong to other processes, so do not signal it.
        if matches!(self.0.try_wait(), Ok(None)) {
            self.kill();
        }
    }
}
