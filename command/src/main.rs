//! `toolwright`: for people who debug tools.
//!
//! Results go to standard output, one JSON object a line, and nothing else does; words for people go
//! to standard error.
//!
//! | exit code | meaning |
//! | --- | --- |
//! | 0 | every tool can be shown |
//! | 1 | a tool is refused, a line is no tool, or a file cannot be read or written |
//! | 2 | the command line is wrong |

mod line;
mod lines;
mod schema;

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
        .about("Shows tools as providers of language models will see them")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(schema::command());
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
