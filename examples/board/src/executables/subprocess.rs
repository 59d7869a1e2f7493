//! Runs a program to its end and reads what it prints line by line, however much that is: no more is held than one line and the
//! last few thousand bytes.

use std::io::{self, BufRead as _, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// Of a longer line, the rest is left out.
const LONGEST_LINE: u64 = 16 * 1024;

/// How much of the end of the output is held.
const TAIL: usize = 4 * 1024;

/// How long a program has between TERM and KILL.
const GRACE: Duration = Duration::from_secs(2);

/// How often the program is looked at while it prints nothing.
const LOOK: Duration = Duration::from_millis(20);

/// How a program ended.
#[derive(Debug)]
pub struct Ended {
    /// Nothing where it was ended because its time was up.
    pub code: Option<i32>,
    pub timed_out: bool,
    /// The last that it printed.
    pub tail: String,
}

/// Runs a program for at most so long, and hands over each line of both its streams, in the order in which they come.
///
/// # Errors
/// When it was not started.
pub fn run(
    command: &mut Command,
    limit: Duration,
    mut each: impl FnMut(&str),
) -> io::Result<Ended> {
    let (reader, writer) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer).process_group(0);
    let mut child = command.spawn()?;
    // The command holds the other end of the pipe: while it is open, reading does not end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (sender, lines) = sync_channel(1024);
    std::thread::spawn(move || read(reader, &sender));
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
    // What it left behind may hold the pipe: it is ended, and what was printed until now is read.
    signal(&child, Signal::KILL);
    let until = Instant::now() + GRACE;
    while let Ok(line) = lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
        take(line);
    }
    tail.drain(..tail.ceil_char_boundary(tail.len().saturating_sub(TAIL)));
    Ok(Ended { code: status.and_then(|it| it.code()).filter(|_| !timed_out), timed_out, tail })
}

/// Waits for the end of a program, and ends it where its time is up.
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
            // It has closed its streams, and may still run.
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
        // It fails where nothing is left of the group.
        let _ = kill_process_group(group, signal);
    }
}

/// Sends each line until the pipe is closed, or no receiver is left.
fn read(pipe: impl Read, sender: &SyncSender<String>) {
    let mut pipe = BufReader::new(pipe);
    loop {
        let mut line = Vec::new();
        match (&mut pipe).take(LONGEST_LINE).read_until(b'\n', &mut line) {
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

/// Reads past the rest of a line.
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
