//! `toolwright`: a command for people who debug tools, and for operators and approvers of agents.
//!
//! Only results go to standard output; notes, warnings and errors go to standard error.
//!
//! | exit code | `schema`, `input`, `openapi`, `mcp` | `calls`, `approvals`, `plan`, `indeterminate`, `dead-letters`, `runs`, `spending`, `keys` |
//! | --- | --- | --- |
//! | 0 | every tool can be shown or made, every input is taken | done, or recorded already |
//! | 1 | a tool, an operation or an input is refused, a line is malformed, or a file cannot be read or written | the journal failed, or a file cannot be read or written |
//! | 2 | the command line is wrong | the command line is wrong, or what it asks for cannot be done |
//! | 3 | | there is no such call, grant or run |
//! | 4 | | another person decided, the call expired, or it changed |
//! | 5 | | the key cannot be used or made |

mod approvals;
mod calls;
mod dead_letters;
mod help;
mod indeterminate;
mod input;
mod keys;
mod line;
mod lines;
mod mcp;
mod openapi;
mod operator;
mod plan;
mod runs;
mod schema;
mod shown;
mod spending;
mod stream;

use std::fmt::Display;
use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    Success,
    Failed,
    Usage,
    Missing,
    Lost,
    Key,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Success => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Missing => 3,
            Exit::Lost => 4,
            Exit::Key => 5,
        })
    }
}

fn main() -> ExitCode {
    run().into()
}

fn run() -> Exit {
    let matches = match help::command().try_get_matches() {
        Ok(matches) => matches,
        // clap returns the text of `--help` and `--version` as an error too; `use_stderr` says to which stream it
        // belongs.
        Err(message) => {
            let exit = if message.use_stderr() { Exit::Usage } else { Exit::Success };
            return if message.print().is_ok() { exit } else { Exit::Failed };
        }
    };
    match matches.subcommand() {
        Some((calls::NAME, matches)) => calls::run(matches),
        Some((approvals::NAME, matches)) => approvals::run(matches),
        Some((indeterminate::NAME, matches)) => indeterminate::run(matches),
        Some((dead_letters::NAME, matches)) => dead_letters::run(matches),
        Some((plan::NAME, matches)) => plan::run(matches),
        Some((runs::NAME, matches)) => runs::run(matches),
        Some((spending::NAME, matches)) => spending::run(matches),
        Some((keys::NAME, matches)) => keys::run(matches),
        Some((schema::NAME, matches)) => schema::run(matches),
        Some((input::NAME, matches)) => input::run(matches),
        Some((openapi::NAME, matches)) => openapi::run(matches),
        Some((mcp::NAME, matches)) => mcp::run(matches),
        _ => complain(Exit::Usage, "no such command"),
    }
}

/// Prints on standard error why a command ended, and returns its exit code.
fn complain(exit: Exit, words: impl Display) -> Exit {
    tell("error", words);
    exit
}

/// Prints a line on standard error. A closed stream is no failure.
fn tell(what: &str, words: impl Display) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{what}: {words}");
}
