//! Runs a program until it ends and reads its output line by line. At most a few dozen lines, and the last few KiB of the
//! output, are in memory.

use std::io::{self, BufRead as _, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// The most bytes of a line of most programs. The rest of the line is dropped.
pub const LONGEST_LINE: u64 = 16 * 1024;

/// How many lines may wait for the function that takes them.
const WAITING: usize = 32;

/// How many bytes of the end of the output are returned.
const TAIL: usize = 4 * 1024;

/// How long a program may take to end between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

/// How often to check whether the program has ended, while it prints nothing.
const LOOK: Duration = Duration::from_millis(20);

/// How a program ended.
#[derive(Debug)]
pub struct Ended {
    /// The exit code; `None` if the program was killed.
    pub code: Option<i32>,
    pub timed_out: bool,
    /// The end of the program's output.
    pub tail: String,
}

/// Runs a program within a time limit, and passes each line of its two streams to a function, in the order of arrival.
/// Of a line, at most `longest` bytes are passed.
///
/// # Errors
/// When the program cannot be started.
pub fn run(
    command: &mut Command,
    limit: Duration,
    longest: u64,
    mut each: impl FnMut(&str),
) -> io::Result<Ended> {
    let (reader, writer) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer).process_group(0);
    let mut child = command.spawn()?;
    // The command holds the write end of the pipe, and reading ends only when every write end is closed.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (sender, lines) = sync_channel(WAITING);
    std::thread::spawn(move || read(reader, longest, &sender));
    let mut tail = String::new();
    let mut take = |line: String| {
        each(&line);
        tail.push_str(&line);
        tail.push('\n');
        if tail.len() > 2 * TAIL {
            tail.drain(..tail.ceil_char_boundary(tail.len() - TAIL));
        }
    };
    let (status, timed_out) = wait(&mut child, &lines, Instant::now() + limit, &mut take)?;
    // A child process may still hold the pipe, so kill the group, and read what it has printed.
    signal(&child, Signal::KILL);
    let until = Instant::now() + GRACE;
    while let Ok(line) = lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
        take(line);
    }
    tail.drain(..tail.ceil_char_boundary(tail.len().saturating_sub(TAIL)));
    Ok(Ended { code: status.and_then(|it| it.code()).filter(|_| !timed_out), timed_out, tail })
}

/// Waits until the program ends, and kills it when its time is up.
fn wait(
    child: &mut Child,
    lines: &Receiver<String>,
    deadline: Instant,
    take: &mut impl FnMut(String),
) -> io::Result<(Option<ExitStatus>, bool)> {
    let (mut ends_at, mut timed_out) = (deadline, false);
    loop {
        match lines.recv_timeout(LOOK) {
            Ok(line) => take(line),
            // The program has closed its streams, but may still run.
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(LOOK),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if Instant::now() >= ends_at {
            if timed_out {
                signal(child, Signal::KILL);
                return Ok((Some(child.wait()?), true));
            }
            signal(child, Signal::TERM);
            (timed_out, ends_at) = (true, Instant::now() + GRACE);
        }
        if let Some(status) = child.try_wait()? {
            return Ok((Some(status), timed_out));
        }
    }
}

fn signal(child: &Child, signal: Signal) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // This fails if the group has no process any more.
        let _ = kill_process_group(group, signal);
    }
}

/// Sends each line until the pipe or the channel is closed.
fn read(pipe: impl Read, longest: u64, sender: &SyncSender<String>) {
    let mut pipe = BufReader::new(pipe);
    loop {
        let mut line = Vec::new();
        match (&mut pipe).take(longest).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if !line.ends_with(b"\n") && skip_line(&mut pipe).is_err() {
            return;
        }
        let line = String::from_utf8_lossy(&line);
        if sender.send(line.trim_end_matches(['\n', '\r']).to_owned()).is_err() {
            return;
        }
    }
}

/// Skips the rest of a line.
fn skip_line(pipe: &mut impl io::BufRead) -> io::Result<()> {
    loop {
        let buffer = pipe.fill_buf()?;
        let end = buffer.iter().position(|it| *it == b'\n');
        let (read, is_over) =
            (end.map_or(buffer.len(), |it| it + 1), end.is_some() || buffer.is_empty());
        pipe.consume(read);
        if is_over {
            return Ok(());
        }
    }
}
