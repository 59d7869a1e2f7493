//! Runs one command under a supervisor, from its start until none of its processes is left.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use process_wrap::tokio::{CommandWrap, ProcessSession};
use rustix::process::{Pid, Signal};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::executors::{NotStarted, ProcessEnd, ProcessRequest, RunningProcess, Streams};
use super::group::{DRAIN, GRACE};
use super::printed::PrintedOutput;
use super::supervisor::{self, Supervisor};

/// How long the supervisor may take to end the remaining processes of a command.
const LAST: Duration = Duration::from_secs(12);

/// Starts a command. The command is ended when the returned future is dropped, and when this process dies.
pub(super) fn start(
    supervisor: &Supervisor,
    vector: &[OsString],
    request: &ProcessRequest<'_>,
) -> io::Result<RunningProcess> {
    let (own, others) = std::os::unix::net::UnixStream::pair()?;
    own.set_nonblocking(true)?;
    let own = UnixStream::from_std(own)?;
    let mut command = supervisor.command(vector);
    command
        .current_dir(request.folder)
        .env_clear()
        .envs(request.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::from(OwnedFd::from(others)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut command = CommandWrap::from(tokio::process::Command::from(command));
    // A new session has no terminal, so a program cannot type answers for a person there.
    command.wrap(ProcessSession);
    let child = command.spawn()?;
    // Closes this process's copy of the supervisor's end of the socket.
    drop(command);
    let (held, given_up) = oneshot::channel::<()>();
    let ended = tokio::spawn(follow(child, own, request.limit, request.streams, given_up));
    Ok(Box::pin(async move {
        let _held = held;
        ended.await.map_err(io::Error::other)?
    }))
}

async fn follow(
    mut child: Box<dyn process_wrap::tokio::ChildWrapper>,
    control: UnixStream,
    limit: Duration,
    streams: Streams,
    mut given_up: oneshot::Receiver<()>,
) -> io::Result<ProcessEnd> {
    let supervisor = child.id().and_then(|it| Pid::from_raw(i32::try_from(it).ok()?));
    let printed = PrintedOutput::new(streams);
    let (output, errors) = (child.stdout().take(), child.stderr().take());
    let reading = printed.read(output, errors);
    let ending = async {
        let (reports, mut orders) = control.into_split();
        let mut reports = BufReader::new(reports);
        let no_report = || io::Error::new(io::ErrorKind::TimedOut, "the supervisor did not report");
        let first = tokio::select! {
            first = line(&mut reports) => first?,
            () = tokio::time::sleep(limit) => return Err(no_report()),
            _ = &mut given_up => return Err(no_report()),
        };
        let group = match first.split_once(' ') {
            Some(("started", number)) => number.parse().ok().and_then(Pid::from_raw),
            Some(("failed", code)) => {
                let error = io::Error::from_raw_os_error(code.parse().unwrap_or_default());
                return Err(io::Error::new(error.kind(), NotStarted(error)));
            }
            // The supervisor may have been killed after it had started the command.
            _ => return Err(io::Error::other("the supervisor ended without a report")),
        };
        let mut report = Box::pin(async move {
            let status = line(&mut reports).await.unwrap_or_default();
            (status, line(&mut reports).await.unwrap_or_default())
        });
        let mut timed_out = false;
        let reported = tokio::select! {
            reported = &mut report => Some(reported),
            () = tokio::time::sleep(limit) => { timed_out = true; None }
            _ = &mut given_up => { timed_out = true; None }
        };
        let (status, folder) = match reported {
            Some(reported) => reported,
            None => {
                let _ = orders.write_all(&[supervisor::TERMINATE]).await;
                match timeout(GRACE, &mut report).await {
                    Ok(reported) => reported,
                    Err(_) => {
                        // The command may have stopped its supervisor, which then reads no order.
                        if let Some(supervisor) = supervisor {
                            let _ = rustix::process::kill_process(supervisor, Signal::CONT);
                        }
                        let _ = orders.shutdown().await;
                        timeout(LAST, &mut report).await.unwrap_or_default()
                    }
                }
            }
        };
        let ended = status
            .split_once(' ')
            .and_then(|(word, number)| supervisor::status(word, number.parse().ok()?));
        if let (None, Some(group)) = (ended, group) {
            // The supervisor was killed, so at least kill the processes that are still in the command's group.
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
        let folder = Some(folder).filter(|it| it.starts_with('/')).map(PathBuf::from);
        io::Result::Ok((ended, timed_out, folder))
    };
    let (mut reading, mut ending) = (std::pin::pin!(reading), std::pin::pin!(ending));
    let ended = tokio::select! {
        ended = &mut ending => {
            if ended.is_ok() {
                let _ = timeout(DRAIN, reading).await;
            }
            ended
        }
        () = &mut reading => ending.await,
    };
    // The supervisor exits soon after it has reported the end, or after its socket was closed.
    if timeout(LAST, child.wait()).await.is_err() {
        let _ = child.start_kill();
    }
    let (status, timed_out, folder) = ended?;
    let (output, errors) = printed.finish();
    // Without a status, the supervisor was killed before the command ended.
    Ok(ProcessEnd { status, timed_out, output, errors, folder })
}

async fn line(reports: &mut BufReader<tokio::net::unix::OwnedReadHalf>) -> io::Result<String> {
    let mut line = String::new();
    reports.read_line(&mut line).await?;
    Ok(line.trim_end().to_owned())
}
