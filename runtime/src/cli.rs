//! The command line of an application: a subcommand for each tool, and `answer`, which answers
//! captured provider messages.
//!
//! Results go to standard output and nothing else does; words for people go to standard error.
//!
//! | exit code | meaning |
//! | --- | --- |
//! | 0 | the tool gave a result; for `answer`, every message was answered |
//! | 1 | the tool failed; for `answer`, a file could not be read or answered |
//! | 2 | the command line or the input is wrong |
//! | 70 | the application itself is put together wrongly |

mod answer;
mod arguments;
mod command;

use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

use crate::error::Class;
use crate::executor::{Executor, ExecutorBuilder};
use crate::registry::Registry;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    Success,
    Failed,
    Usage,
    Application,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Success => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Application => 70,
        })
    }
}

/// Runs the command line of an application whose linked tools need no services. Synchronous: it
/// brings its own tokio runtime.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     toolwright::cli::main()
/// }
/// ```
#[must_use]
pub fn main() -> ExitCode {
    main_with(ExecutorBuilder::unrestricted)
}

/// The same for tools that need services, which `configure` gives to the executor.
///
/// ```no_run
/// struct Greeting(&'static str);
///
/// fn main() -> std::process::ExitCode {
///     toolwright::cli::main_with(|builder| builder.unrestricted().service(Greeting("Hello")))
/// }
/// ```
#[must_use]
pub fn main_with(configure: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder) -> ExitCode {
    run(std::env::args_os(), configure).into()
}

fn run(
    arguments: impl Iterator<Item = std::ffi::OsString>,
    configure: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder,
) -> Exit {
    let registry = match Registry::linked() {
        Ok(registry) => registry,
        Err(error) => return complain(Exit::Application, error),
    };
    let command = match command::of(&registry) {
        Ok(command) => command,
        Err(error) => return complain(Exit::Application, error),
    };
    let matches = match command.try_get_matches_from(arguments) {
        Ok(matches) => matches,
        // Help and the like also come this way; clap knows which stream they belong to.
        Err(message) => {
            let exit = if message.use_stderr() { Exit::Usage } else { Exit::Success };
            return if message.print().is_ok() { exit } else { Exit::Failed };
        }
    };
    let built = configure(Executor::builder(registry.clone())).build();
    let executor = match built {
        Ok(executor) => executor,
        Err(error) => return complain(Exit::Application, error),
    };
    match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => {
            let exit = runtime.block_on(command::run(&executor, &matches));
            // The thread of a blocking tool that ran out of time is not waited for.
            runtime.shutdown_background();
            exit
        }
        Err(error) => {
            complain(Exit::Application, format!("no tokio runtime could be started: {error}"))
        }
    }
}

/// Writes a result to standard output, which may be full or closed.
fn print(result: &str) -> Exit {
    match writeln!(std::io::stdout(), "{result}") {
        Ok(()) => Exit::Success,
        Err(error) => complain(Exit::Failed, format!("the result could not be written: {error}")),
    }
}

/// Says on standard error why a command ended.
fn complain(exit: Exit, words: impl Display) -> Exit {
    eprintln!("error: {words}");
    exit
}

/// The exit code that fits a failure.
fn exit_of(class: Class) -> Exit {
    match class {
        Class::Invalid => Exit::Usage,
        _ => Exit::Failed,
    }
}
