//! The supervisor: a process between an application and a command. It adopts all processes that the command starts, and
//! ends all of them when the command ends, when the application requests it, and when the application dies.
//!
//! ```text
//!  application ── socket ── supervisor ── command ── what it starts, also in other sessions
//!       └ killed: the socket closes ─▶ KILL to every descendant
//! ```
//!
//! On Linux the supervisor is the subreaper of its descendants: a daemon becomes its child. On other systems only the process
//! group of the command is ended.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

/// The argument that makes a program run as a supervisor.
const MARK: &str = "--toolwright-supervise";

/// The environment variable with the number of the descriptor to which a shell reports its last folder.
pub(super) const FOLDER: &str = "TOOLWRIGHT_FOLDER";

/// How long descendants are killed repeatedly while they start new processes.
const LONGEST: Duration = Duration::from_secs(10);

/// The byte by which the application requests TERM.
pub(super) const TERMINATE: u8 = b'T';

/// The program that supervises the commands of an application: the application's own program, started again, unless the
/// application names another program.
///
/// On Linux the supervisor takes over before `main`, so that no code of the application runs in it. On other systems an
/// application calls [`in_this_program`](Self::in_this_program) at the very beginning of its `main`; in the supervisor that
/// call never returns.
///
/// ```no_run
/// use toolwright_toolbox::{Shell, Supervisor};
///
/// fn main() -> std::io::Result<()> {
///     let supervisor = Supervisor::in_this_program()?;
///     let _shell = Shell::new(supervisor);
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Supervisor(PathBuf);

impl Supervisor {
    /// Makes this program its own supervisor. In a process that was started as a supervisor, this function supervises and never
    /// returns.
    ///
    /// # Errors
    /// When the path of this program is not known.
    pub fn in_this_program() -> io::Result<Self> {
        Self::supervise_if_asked();
        std::env::current_exe().map(Self)
    }

    /// Makes another program the supervisor: `toolwright-supervisor`, or one that calls
    /// [`supervise_if_asked`](Self::supervise_if_asked).
    pub fn program(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Supervises and never returns if this process was started as a supervisor; else does nothing.
    pub fn supervise_if_asked() {
        #[cfg(target_os = "linux")]
        if super::before_main::has_looked() {
            return;
        }
        supervise_if_asked(std::env::args_os());
    }

    /// Returns the path of the supervisor's program.
    #[cfg(all(feature = "landlock", feature = "shell", target_os = "linux"))]
    pub(super) fn path(&self) -> &std::path::Path {
        &self.0
    }

    /// Makes the command that runs the given arguments under a supervisor.
    pub(super) fn command(&self, arguments: &[OsString]) -> Command {
        let mut command = Command::new(&self.0);
        command.arg(MARK).args(arguments);
        command
    }
}

/// Supervises, or applies sandbox rules and executes another program, if the arguments say so. Otherwise returns.
pub(super) fn supervise_if_asked(mut arguments: impl Iterator<Item = OsString>) {
    let asked = arguments.nth(1);
    #[cfg(all(feature = "landlock", feature = "shell", target_os = "linux"))]
    if super::landlock::is_asked_for(asked.as_deref()) {
        let error = super::landlock::confine(&arguments.collect::<Vec<_>>());
        eprintln!("landlock: {error}");
        std::process::exit(126);
    }
    if asked.as_deref() == Some(OsStr::new(MARK)) {
        let code = match supervise(&arguments.collect::<Vec<_>>()) {
            Ok(()) => 0,
            Err(_) => 70,
        };
        std::process::exit(code);
    }
}

/// Sends a report to the application. If the application is gone, the report is lost, and no signal is raised: this
/// process must not end before its command.
fn report(control: &UnixStream, text: &str) {
    #[cfg(target_os = "linux")]
    let _ = rustix::net::send(control, text.as_bytes(), rustix::net::SendFlags::NOSIGNAL);
    // On other systems, Rust's start-up code has disabled SIGPIPE.
    #[cfg(not(target_os = "linux"))]
    let _ = io::Write::write_all(&mut &*control, text.as_bytes());
}

/// Runs a command and supervises it. Standard input is the socket to the application.
fn supervise(arguments: &[OsString]) -> io::Result<()> {
    let control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut orders = control.try_clone()?;
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let (folder, written) = rustix::pipe::pipe()?;
    rustix::io::fcntl_setfd(&folder, rustix::io::FdFlags::CLOEXEC)?;
    let [program, rest @ ..] = arguments else { return Err(io::ErrorKind::InvalidInput.into()) };
    let number = std::os::fd::AsRawFd::as_raw_fd(&written).to_string();
    let mut command = Command::new(program);
    command.args(rest).stdin(Stdio::null()).process_group(0).env(FOLDER, number);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            let code = error.raw_os_error().unwrap_or_default();
            report(&control, &format!("failed {code}\n"));
            return Ok(());
        }
    };
    drop(written);
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // From here on, no error may end this process before its command. If the application is already gone, reading from
    // the socket ends at once.
    report(&control, &format!("started {}\n", child.id()));
    let listening = std::thread::Builder::new().spawn(move || {
        let mut order = [0];
        while orders.read(&mut order).is_ok_and(|it| it == 1) {
            if order[0] == TERMINATE {
                signal_all(group, Signal::TERM);
            }
        }
        // The application is gone, or has closed the socket to have the command killed. Only the main thread may reap
        // children. If this thread reaped the command, the main thread would take the error for the end of the command,
        // and exit while descendants are left.
        let start = Instant::now();
        kill_group(group);
        while start.elapsed() < LONGEST {
            kill_descendants();
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    if let Err(error) = listening {
        end_all(group);
        return Err(error);
    }
    let status = child.wait();
    end_all(group);
    let status = status?;
    let mut left = Vec::new();
    rustix::io::ioctl_fionbio(&folder, true)?;
    let _ = std::fs::File::from(folder).take(8 * 1024).read_to_end(&mut left);
    let left: String = String::from_utf8(left)
        .unwrap_or_default()
        .lines()
        .next_back()
        .unwrap_or_default()
        .to_owned();
    let status = status.code().map_or_else(
        || format!("signal {}", status.signal().unwrap_or_default()),
        |code| format!("exit {code}"),
    );
    report(&control, &format!("{status}\n{left}\n"));
    Ok(())
}

/// Parses the status with which a command ended, from a report of the supervisor.
pub(super) fn status(word: &str, number: i32) -> Option<ExitStatus> {
    match word {
        "exit" => Some(ExitStatus::from_raw(number << 8)),
        "signal" => Some(ExitStatus::from_raw(number)),
        _ => None,
    }
}

fn signal_all(group: Option<Pid>, signal: Signal) {
    if let Some(group) = group {
        // Sending the signal fails if no process of the group is left.
        let _ = rustix::process::kill_process_group(group, signal);
    }
    for descendant in descendants() {
        let _ = rustix::process::kill_process(descendant, signal);
    }
}

fn kill_group(group: Option<Pid>) {
    if let Some(group) = group {
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
}

fn kill_descendants() {
    let left = descendants();
    // Stop all descendants first, so that none starts another while they are killed.
    for signal in [Signal::STOP, Signal::KILL] {
        for descendant in &left {
            let _ = rustix::process::kill_process(*descendant, signal);
        }
    }
}

/// Kills and reaps every descendant, including those that are started meanwhile, for at most [`LONGEST`].
fn end_all(group: Option<Pid>) {
    let start = Instant::now();
    kill_group(group);
    while start.elapsed() < LONGEST {
        // Reap dead processes; an error means that no child is left.
        match rustix::process::wait(rustix::process::WaitOptions::NOHANG) {
            Err(_) => return,
            Ok(Some(_)) => continue,
            Ok(None) => {}
        }
        kill_descendants();
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Lists all living descendants of this process, in any session or group.
#[cfg(target_os = "linux")]
fn descendants() -> Vec<Pid> {
    let parent = |entry: std::fs::DirEntry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // The name of a process may contain any characters, even a parenthesis.
        let mut rest = stat.rsplit(')').next()?.split_whitespace();
        let (state, parent) = (rest.next()?, rest.next()?.parse().ok()?);
        (state != "Z").then_some((pid, parent))
    };
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let all: Vec<(i32, i32)> = entries.flatten().filter_map(parent).collect();
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let mut found = vec![own];
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        found.extend(all.iter().filter(|(_, it)| *it == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    found[1..].iter().filter_map(|it| Pid::from_raw(*it)).collect()
}

#[cfg(not(target_os = "linux"))]
fn descendants() -> Vec<Pid> {
    Vec::new()
}
