//! A key that a command prints.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::process::Command;
use tokio::sync::Mutex;
use toolwright::ErrorClass;

use super::Secret;
use crate::http::fault::Fault;

/// How long the command may take: a person may have to unlock a password manager.
const TIME: Duration = Duration::from_secs(60);

/// The maximum length of a key, in bytes.
const LONGEST: usize = 64 << 10;

pub(in crate::http) struct CommandKey {
    program: OsString,
    arguments: Vec<OsString>,
    time: Duration,
    /// The last output of the command. The lock is held while the command runs, so that all waiting requests use the
    /// output of one run, or fail with it.
    printed: Mutex<PrintedKey>,
    /// How many runs have failed. It changes only while the lock is held.
    failures: AtomicUsize,
}

#[derive(Default)]
struct PrintedKey {
    secret: Option<Secret>,
    /// Why the last run that failed did so.
    fault: Option<Fault>,
}

impl CommandKey {
    /// Makes the command; `None` if it names no program.
    pub(super) fn new(words: Vec<OsString>) -> Option<Self> {
        let mut words = words.into_iter();
        let program = words.next().filter(|program| !program.is_empty())?;
        let (printed, failures) = (Mutex::default(), AtomicUsize::new(0));
        Some(Self { program, arguments: words.collect(), time: TIME, printed, failures })
    }

    pub(super) async fn current(&self) -> Result<Secret, Fault> {
        let failures = self.failures.load(Ordering::Relaxed);
        let mut printed = self.printed.lock().await;
        if let Some(secret) = &printed.secret {
            return Ok(secret.clone());
        }
        self.refresh(&mut printed, failures).await
    }

    /// Runs the command again, unless another request has run it since this request sent the refused key. Returns
    /// whether the key now differs from the refused one.
    pub(super) async fn has_other_than(&self, refused: &Secret) -> Result<bool, Fault> {
        let failures = self.failures.load(Ordering::Relaxed);
        let mut printed = self.printed.lock().await;
        match &printed.secret {
            Some(known) if known != refused => Ok(true),
            _ => Ok(self.refresh(&mut printed, failures).await? != *refused),
        }
    }

    /// Runs the command, unless a run has failed since a request that saw this many failures began to wait. Then the
    /// request fails as well, so that requests do not wait for one slow run after another.
    async fn refresh(&self, printed: &mut PrintedKey, failures: usize) -> Result<Secret, Fault> {
        if self.failures.load(Ordering::Relaxed) != failures
            && let Some(fault) = &printed.fault
        {
            return Err(fault.clone());
        }
        let secret = self.run().await.inspect_err(|fault| {
            printed.fault = Some(fault.clone());
            self.failures.fetch_add(1, Ordering::Relaxed);
        })?;
        printed.secret = Some(secret.clone());
        Ok(secret)
    }

    async fn run(&self) -> Result<Secret, Fault> {
        let ran = tokio::time::timeout(self.time, self.output()).await;
        let found = match ran {
            Err(_) => format!("did not end within {} s", self.time.as_secs_f64()),
            Ok(Err(error)) => format!("could not be run ({error})"),
            Ok(Ok((_, output))) if output.len() > LONGEST => {
                format!("printed more than {LONGEST} bytes")
            }
            Ok(Ok((status, _))) if !status.success() => format!("ended with {status}"),
            Ok(Ok((_, output))) => match key_in(&output) {
                Ok(secret) => return Ok(secret),
                Err(found) => format!("printed {found}"),
            },
        };
        let message = format!(
            "cannot be asked: the command `{}` for the key {found}, expected the key alone on its standard output; run it yourself to see why",
            self.program.to_string_lossy()
        );
        // The password manager may be locked or unavailable for now, so a recorded run waits, as it does for a model
        // that is unavailable.
        let class = ErrorClass::NotStarted { retry_after: None };
        Err(Fault::new("no_key", class, message))
    }

    async fn output(&self) -> io::Result<(ExitStatus, Vec<u8>)> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn()?;
        let mut output = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            // One byte more than allowed is read, to detect a text that is too long.
            stdout.take(LONGEST as u64 + 1).read_to_end(&mut output).await?;
        }
        Ok((child.wait().await?, output))
    }
}

/// Returns the key in the output. If the output is not a key, the error describes the output without showing it,
/// because the output may contain the key.
fn key_in(output: &[u8]) -> Result<Secret, &'static str> {
    let text = std::str::from_utf8(output).map_err(|_| "what is not UTF-8")?;
    let secret = Secret::new(text.trim()).ok_or("nothing")?;
    secret.header("").map(|_| secret).ok_or("several lines, or characters that no header can hold")
}

/// Shows only the program, because its arguments and its output may hold secrets.
impl fmt::Debug for CommandKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CommandKey").field("program", &self.program).finish_non_exhaustive()
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
