//! One program in a process group of its own, from its start to the end of the whole group.
//!
//! ```text
//!  running ── it exits ──────────────────────────────▶ KILL to what it left in its group ─▶ ended
//!     └────── time is up, or the call was given up ──▶ TERM ── grace ──▶ KILL ────────────▶ ended
//! ```
//!
//! The group has a task of its own, so that a call that is dropped still ends it with grace. A runtime that shuts down
//! drops the task, and then the group is killed at once.

use std::io;
use std::process::ExitStatus;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::transcript::{Stream, Transcript};

/// How long a program has to end itself after TERM.
pub(super) const GRACE: Duration = Duration::from_secs(2);

/// How long the output is read after the program has ended: what it started in another session may hold it open.
pub(super) const DRAIN: Duration = Duration::from_millis(500);

/// How a program ended, and what it printed.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) timed_out: bool,
    pub(super) output: String,
}

/// Starts a program and ends its group when the returned future is dropped.
pub(super) fn start(
    command: Command,
    limit: Duration,
) -> io::Result<impl Future<Output = io::Result<Ended>> + Send> {
    let mut command = CommandWrap::from(command);
    // A session, which is a group as well: through the terminal of this process a program could type answers for the
    // person who sits there.
    #[cfg(unix)]
    command.wrap(process_wrap::tokio::ProcessSession);
    let group = Group(command.spawn()?);
    let (held, given_up) = oneshot::channel::<()>();
    let ended = tokio::spawn(supervise(group, limit, given_up));
    Ok(async move {
        let _held = held;
        ended.await.map_err(io::Error::other)?
    })
}

async fn supervise(
    mut group: Group,
    limit: Duration,
    given_up: oneshot::Receiver<()>,
) -> io::Result<Ended> {
    let transcript = Mutex::new(Transcript::default());
    let (output, errors) = (group.0.stdout().take(), group.0.stderr().take());
    let reading = read(output, errors, &transcript);
    let ending = async {
        let exited = tokio::select! {
            status = group.0.wait() => Some(status?),
            () = tokio::time::sleep(limit) => None,
            _ = given_up => None,
        };
        let status = match exited {
            Some(status) => status,
            None => group.terminate().await?,
        };
        group.kill();
        io::Result::Ok((status, exited.is_none()))
    };
    let (mut reading, mut ending) = (std::pin::pin!(reading), std::pin::pin!(ending));
    let (status, timed_out) = tokio::select! {
        ended = &mut ending => {
            let ended = ended?;
            // What still holds the output open is not waited for.
            let _ = timeout(DRAIN, reading).await;
            ended
        }
        _ = &mut reading => ending.await?,
    };
    let output = std::mem::take(&mut *locked(&transcript)).finish();
    Ok(Ended { status, timed_out, output })
}

/// Reads both streams to their ends, in the order of arrival: what was printed before something that arrives on the other
/// stream is there when that is read, so that standard output goes first. A stream that breaks is over: the exit code says
/// how the program ended.
pub(super) async fn read(
    mut output: Option<impl AsyncRead + Unpin>,
    mut errors: Option<impl AsyncRead + Unpin>,
    transcript: &Mutex<Transcript>,
) {
    let (mut printed, mut complained) = (vec![0; 16 * 1024], vec![0; 16 * 1024]);
    while output.is_some() || errors.is_some() {
        tokio::select! {
            biased;
            read = piece(&mut output, &mut printed) => {
                locked(transcript).push(Stream::Output, &printed[..read]);
            }
            read = piece(&mut errors, &mut complained) => {
                // The runtime may have heard of this stream first.
                tokio::task::yield_now().await;
                loop {
                    tokio::select! {
                        biased;
                        read @ 1.. = piece(&mut output, &mut printed) => {
                            locked(transcript).push(Stream::Output, &printed[..read]);
                        }
                        () = std::future::ready(()) => break,
                    }
                }
                locked(transcript).push(Stream::Errors, &complained[..read]);
            }
        }
    }
}

/// How much was read. Nothing at the end of a stream, which is no stream then.
async fn piece(stream: &mut Option<impl AsyncRead + Unpin>, buffer: &mut [u8]) -> usize {
    let Some(open) = stream else { return std::future::pending().await };
    let read = open.read(buffer).await.unwrap_or(0);
    if read == 0 {
        *stream = None;
    }
    read
}

/// A panic while a line was added leaves the lines before it.
pub(super) fn locked(transcript: &Mutex<Transcript>) -> MutexGuard<'_, Transcript> {
    transcript.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A program and what it has started, as far as that stays in its group.
#[derive(Debug)]
struct Group(Box<dyn ChildWrapper>);

impl Group {
    /// TERM, grace, KILL.
    async fn terminate(&mut self) -> io::Result<ExitStatus> {
        #[cfg(unix)]
        {
            /// The number is the same on every Unix.
            const TERM: i32 = 15;
            // It may have ended by itself in the meantime.
            let _ = self.0.signal(TERM);
            if let Ok(status) = timeout(GRACE, self.0.wait()).await {
                return status;
            }
        }
        self.kill();
        self.0.wait().await
    }

    /// Ends all that is left of the group.
    fn kill(&mut self) {
        // It fails where nothing is left.
        let _ = self.0.start_kill();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A group that has ended as a whole has no process that its id could mean.
        if matches!(self.0.try_wait(), Ok(None)) {
            self.kill();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use tokio::io::ReadBuf;

    use super::*;

    /// A stream of which the runtime hears a moment after its bytes were there.
    struct Late(Option<&'static [u8]>, bool);

    impl AsyncRead for Late {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            if std::mem::take(&mut self.1) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            buffer.put_slice(self.0.take().unwrap_or_default());
            Poll::Ready(Ok(()))
        }
    }

    /// Cargo says on standard error that the tests failed whose output stands on standard output before that.
    #[tokio::test]
    async fn what_was_printed_before_an_error_stands_before_it() {
        for is_late in [false, true] {
            let transcript = Mutex::new(Transcript::default());
            let output = Some(Late(Some(b"1 failed\n"), is_late));
            read(output, Some(Late(Some(b"error\n"), false)), &transcript).await;
            let read = std::mem::take(&mut *locked(&transcript)).finish();
            assert_eq!(read, "1 failed\nerror\n", "{is_late}");
        }
    }
}
