//! Runs a shell script in a container until it ends, with exact bytes as input and output. Names are passed to scripts
//! as positional arguments, and never inserted into the text of a script.

use std::io::{self, Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use toolwright::{ErrorClass, ToolError, error_kind};

use super::super::environment::variables;
use super::Container;
use crate::workspace::Name;

/// The time-out of a script.
const LIMIT: Duration = Duration::from_secs(120);

/// The most bytes of a script's standard error that are read.
const LARGEST_ERRORS: u64 = 64 * 1024;

/// Exit codes of the scripts; neither shells nor engines use them.
pub(super) mod code {
    pub(in super::super) const ABSENT: i32 = 41;
    pub(in super::super) const FOLDER: i32 = 42;
    pub(in super::super) const NOT_REGULAR: i32 = 43;
    pub(in super::super) const FORBIDDEN: i32 = 44;
    pub(in super::super) const TOO_LARGE: i32 = 45;
    pub(in super::super) const CHANGED: i32 = 46;
    pub(in super::super) const READ_ONLY: i32 = 47;
    pub(in super::super) const LINK: i32 = 48;
    pub(in super::super) const NOT_A_FOLDER: i32 = 50;
    pub(in super::super) const TAKEN: i32 = 51;
    pub(in super::super) const PARTLY: i32 = 55;
}

/// The result of a script.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) status: ExitStatus,
    pub(super) output: Vec<u8>,
    pub(super) errors: String,
}

impl Ran {
    pub(super) fn is_done(&self) -> bool {
        self.status.success()
    }

    /// Makes the error for a script that failed for this file.
    pub(super) fn failed(&self, name: &Name) -> ToolError {
        let first = self.errors.lines().next().unwrap_or("nothing").trim();
        let message = format!("`{name}`: the container answered {}: {first}", self.status);
        match first.contains("No space left on device") {
            true => ToolError::new("disk_full", format!("`{name}`: the disk is full")),
            false => ToolError::new("container_failed", message),
        }
    }
}

/// Returns the name as an argument that no program reads as an option.
pub(super) fn path(name: &Name) -> String {
    format!("./{name}")
}

impl Container {
    /// Runs a script in the folder of the workspace. Reads at most `most` bytes of its output, and one more to detect a
    /// longer output.
    pub(super) fn run(
        &self,
        name: &Name,
        script: &str,
        arguments: &[String],
        input: Option<&[u8]>,
        most: u64,
    ) -> Result<Ran, ToolError> {
        let lost = |error: io::Error| {
            let message = format!("`{name}`: the container cannot be reached: {error}");
            ToolError::new("container_unreachable", message)
                .class(ErrorClass::NotStarted { retry_after: None })
                .caused_by(error)
        };
        let mut child = self.start(script, arguments, input.is_some()).map_err(lost)?;
        if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
            let input = input.to_vec();
            // If the script does not get all of its input, the script reports that itself.
            thread::spawn(move || drop(stdin.write_all(&input)));
        }
        let output = collect(child.stdout.take(), most.saturating_add(1));
        let errors = collect(child.stderr.take(), LARGEST_ERRORS);
        let until = Instant::now() + LIMIT;
        let output = output.recv_timeout(LIMIT).ok();
        let status = output.as_ref().and_then(|_| wait_for_end(&mut child, until));
        let (Some(output), Some(status)) = (output, status) else {
            // If the process cannot be killed, it has already ended.
            let _ = child.kill();
            let _ = child.wait();
            let seconds = LIMIT.as_secs();
            let message =
                format!("`{name}`: the container did not answer within {seconds} seconds");
            return Err(ToolError::new(error_kind::TIMEOUT, message).class(ErrorClass::Unknown));
        };
        let errors = errors.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
        Ok(Ran { status, output, errors: String::from_utf8_lossy(&errors).into_owned() })
    }

    fn start(&self, script: &str, arguments: &[String], has_input: bool) -> io::Result<Child> {
        let mut command = Command::new(&self.engine);
        command.args(["exec", "--workdir"]).arg(&self.root);
        if has_input {
            command.arg("--interactive");
        }
        command.arg(&self.name).args(["sh", "-c", script, "sh"]).args(arguments);
        command
            .current_dir(Path::new("/"))
            .env_clear()
            .envs(variables(&self.root))
            .stdin(if has_input { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
    }
}

/// Reads a stream on its own thread, since a process blocks while its other stream is full.
fn collect(stream: Option<impl Read + Send + 'static>, most: u64) -> mpsc::Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(stream) = stream {
            // A broken stream counts as ended, because the exit code shows the outcome.
            let _ = stream.take(most).read_to_end(&mut bytes);
        }
        // After a time-out, the output is no longer needed.
        let _ = send.send(bytes);
    });
    receive
}

/// Waits for a process that has closed its output, until the given time.
fn wait_for_end(child: &mut Child, until: Instant) -> Option<ExitStatus> {
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait().ok()? {
            return Some(status);
        }
        if Instant::now() >= until {
            return None;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
