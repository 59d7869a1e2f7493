//! Reads the output of a program from its two streams.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::executors::Streams;
use super::transcript::{Stream, Transcript};

/// The output so far. Reading may be stopped at any moment.
#[derive(Debug)]
pub(super) struct PrintedOutput {
    streams: Streams,
    output: Mutex<Transcript>,
    errors: Mutex<Transcript>,
}

impl PrintedOutput {
    pub(super) fn new(streams: Streams) -> Self {
        let output = match streams {
            Streams::Marked => Transcript::marking(),
            Streams::Mixed | Streams::Apart => Transcript::default(),
        };
        Self { streams, output: Mutex::new(output), errors: Mutex::default() }
    }

    /// Reads both streams to their ends.
    pub(super) async fn read(
        &self,
        output: Option<impl AsyncRead + Unpin>,
        errors: Option<impl AsyncRead + Unpin>,
    ) {
        match self.streams {
            Streams::Mixed | Streams::Marked => read(output, errors, &self.output).await,
            Streams::Apart => {
                let none = || None::<tokio::io::Empty>;
                tokio::join!(
                    read(output, none(), &self.output),
                    read(errors, none(), &self.errors)
                );
            }
        }
    }

    /// Returns standard output, and standard error if it is read separately.
    pub(super) fn finish(&self) -> (String, String) {
        let text = |it| std::mem::take(&mut *lock(it)).finish();
        (text(&self.output), text(&self.errors))
    }
}

/// Reads both streams to their ends, in the order of arrival. Before a piece of standard error is added, all available
/// standard output is added, because it was usually printed before. A broken stream counts as ended, because the exit
/// code shows the outcome.
async fn read(
    mut output: Option<impl AsyncRead + Unpin>,
    mut errors: Option<impl AsyncRead + Unpin>,
    transcript: &Mutex<Transcript>,
) {
    let (mut printed, mut complained) = (vec![0; 16 * 1024], vec![0; 16 * 1024]);
    while output.is_some() || errors.is_some() {
        tokio::select! {
            biased;
            read = piece(&mut output, &mut printed) => {
                lock(transcript).push(Stream::Output, &printed[..read]);
            }
            read = piece(&mut errors, &mut complained) => {
                // Let the runtime notice that standard output is readable, too.
                tokio::task::yield_now().await;
                loop {
                    tokio::select! {
                        biased;
                        read @ 1.. = piece(&mut output, &mut printed) => {
                            lock(transcript).push(Stream::Output, &printed[..read]);
                        }
                        () = std::future::ready(()) => break,
                    }
                }
                lock(transcript).push(Stream::Errors, &complained[..read]);
            }
        }
    }
}

/// Reads a piece of a stream and returns its length. At the end of the stream, returns 0 and removes the stream.
async fn piece(stream: &mut Option<impl AsyncRead + Unpin>, buffer: &mut [u8]) -> usize {
    let Some(open) = stream else { return std::future::pending().await };
    let read = open.read(buffer).await.unwrap_or(0);
    if read == 0 {
        *stream = None;
    }
    read
}

/// Locks the transcript. If adding a line has panicked, the earlier lines are still valid.
fn lock(transcript: &Mutex<Transcript>) -> MutexGuard<'_, Transcript> {
    transcript.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::io;
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

    /// Cargo says on standard error that the tests failed whose output is on standard output before that.
    #[tokio::test]
    async fn what_was_printed_before_an_error_stands_before_it() {
        for is_late in [false, true] {
            let printed = PrintedOutput::new(Streams::Mixed);
            let output = Some(Late(Some(b"1 failed\n"), is_late));
            printed.read(output, Some(Late(Some(b"error\n"), false))).await;
            assert_eq!(printed.finish().0, "1 failed\nerror\n", "{is_late}");
        }
    }
}
