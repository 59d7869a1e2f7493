//! One command under its supervisor, from its start until nothing of it is left.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use process_wrap::tokio::{CommandWrap, ProcessSession};
use rustix::process::{Pid, Signal};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::group::{DRAIN, GRACE, locked, read};
use super::supervisor::{self, Supervisor};
use super::transcript::Transcript;

/// How long the supervisor has to end what is left of a command.
const LAST: Duration = Duration::from_secs(12);

/// What is run: the program with its arguments, as they are given to the system.
#[derive(Debug)]
pub(super) struct Start<'a> {
    pub(super) arguments: &'a [OsString],
    pub(super) folder: &'a Path,
    pub(super) variables: &'a [(OsString, OsString)],
    pub(super) limit: Duration,
    /// Standard error goes into the output, line by line.
    pub(super) merges: bool,
}

/// How a command ended.
#[derive(Debug)]
pub(super) struct Finished {
    /// Nothing where its supervisor was killed before it.
    pub(super) status: Option<ExitStatus>,
    pub(super) timed_out: bool,
    pub(super) output: String,
    /// What it wrote to standard error, where that does not go into the output.
    pub(super) errors: String,
    /// The folder that a shell ended in, by its own word.
    pub(super) folder: Option<PathBuf>,
}

/// Starts a command. It ends when the returned future is dropped, and when this process is gone.
pub(super) fn start(
    supervisor: &Supervisor,
    start: &Start<'_>,
) -> io::Result<impl Future<Output = io::Result<Finished>> + Send + use<>> {
    let (own, others) = std::os::unix::net::UnixStream::pair()?;
    own.set_nonblocking(true)?;
    let own = UnixStream::from_std(own)?;
    let mut command = supervisor.command(start.arguments);
    command
        .current_dir(start.folder)
        .env_clear()
        .envs(start.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::from(OwnedFd::from(others)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut command = CommandWrap::from(tokio::process::Command::from(command));
    // Without a terminal, through which a program could type answers for a person.
    command.wrap(ProcessSession);
    let child = command.spawn()?;
    // The other end of the socket is the supervisor's alone now.
    drop(command);
    let (held, given_up) = oneshot::channel::<()>();
    let ended = tokio::spawn(follow(child, own, start.limit, start.merges, given_up));
    Ok(async move {
        let _held = held;
        ended.await.map_err(io::Error::other)?
    })
}

async fn follow(
    mut child: Box<dyn process_wrap::tokio::ChildWrapper>,
    control: UnixStream,
    limit: Duration,
    merges: bool,
    given_up: oneshot::Receiver<()>,
) -> io::Result<Finished> {
    let all = Mutex::new(if merges { Transcript::marking() } else { Transcript::default() });
    let apart = Mutex::new(Transcript::default());
    let (output, errors) = (child.stdout().take(), child.stderr().take());
    let none = || None::<tokio::process::ChildStderr>;
    let reading = async {
        if merges {
            read(output, errors, &all).await;
        } else {
            tokio::join!(read(output, none(), &all), read(errors, none(), &apart));
        }
    };
    let ending = async {
        let (reports, mut orders) = control.into_split();
        let mut reports = BufReader::new(reports);
        let first = line(&mut reports).await?;
        let group = match first.split_once(' ') {
            Some(("started", number)) => number.parse().ok().and_then(Pid::from_raw),
            Some(("failed", code)) => {
                return Err(io::Error::from_raw_os_error(code.parse().unwrap_or_default()));
            }
            _ => return Err(io::Error::other("the supervisor did not start")),
        };
        let mut report = Box::pin(async move {
            let status = line(&mut reports).await.unwrap_or_default();
            (status, line(&mut reports).await.unwrap_or_default())
        });
        let mut timed_out = false;
        let reported = tokio::select! {
            reported = &mut report => Some(reported),
            () = tokio::time::sleep(limit) => { timed_out = true; None }
            _ = given_up => { timed_out = true; None }
        };
        let (status, folder) = match reported {
            Some(reported) => reported,
            None => {
                let _ = orders.write_all(&[supervisor::TERMINATE]).await;
                match timeout(GRACE, &mut report).await {
                    Ok(reported) => reported,
                    Err(_) => {
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
            // The supervisor was killed; what stayed in the group of the command is still known.
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
        let folder = Some(folder).filter(|it| it.starts_with('/')).map(PathBuf::from);
        io::Result::Ok((ended, timed_out, folder))
    };
    let (mut reading, mut ending) = (std::pin::pin!(reading), std::pin::pin!(ending));
    let (status, timed_out, folder) = tokio::select! {
        ended = &mut ending => {
            let ended = ended?;
            let _ = timeout(DRAIN, reading).await;
            ended
        }
        () = &mut reading => ending.await?,
    };
    // It is gone as soon as it has reported.
    let _ = timeout(LAST, child.wait()).await;
    let output = std::mem::take(&mut *locked(&all)).finish();
    let errors = std::mem::take(&mut *locked(&apart)).finish();
    Ok(Finished { status, timed_out, output, errors, folder })
}

async fn line(reports: &mut BufReader<tokio::net::unix::OwnedReadHalf>) -> io::Result<String> {
    let mut line = String::new();
    reports.read_line(&mut line).await?;
    Ok(line.trim_end().to_owned())
}
