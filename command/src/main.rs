//! `toolwright`: for people who debug tools.
//!
//! Results go to standard output, one JSON object a line unless words were asked for, and nothing else does;
//! what is said beside them goes to standard error.
//!
//! | exit code | meaning |
//! | --- | --- |
//! | 0 | every tool can be shown, every input is taken |
//! | 1 | a tool or an input is refused, a line is neither, or a file cannot be read or written |
//! | 2 | the command line is wrong |

mod input;
mod line;
mod lines;
mod schema;
mod stream;

use std::fmt::Display;
use std::process::ExitCode;

use clap::Command;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    Success,
    Failed,
    Usage,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Success => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
        })
    }
}

fn main() -> ExitCode {
    run().into()
}

fn run() -> Exit {
    let command = Command::new("toolwright")
        .about("Shows tools as language models will see them, and what becomes of their calls")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([schema::command(), input::command()]);
    let matches = match command.try_get_matches() {
        Ok(matches) => matches,
        // Help and the like also come this way; clap knows which stream they belong to.
        Err(message) => {
            let exit = if message.use_stderr() { Exit::Usage } else { Exit::Success };
            return if message.print().is_ok() { exit } else { Exit::Failed };
        }
    };
    match matches.subcommand() {
        Some((schema::NAME, matches)) => schema::run(matches),
        Some((input::NAME, matches)) => input::run(matches),
        _ => complain(Exit::Usage, "no such command"),
    }
}

/// Says on standard error why a command ended.
fn complain(exit: Exit, words: impl Display) -> Exit {
    tell("error", words);
    exit
}

/// A line on standard error, which may be closed.
fn tell(what: &str, words: impl Display) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{what}: {words}");
}
