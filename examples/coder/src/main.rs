//! A coding agent. `coder run TASK` gives a task to a model, which reads, searches and edits the files of a folder
//! and runs programs there, as far as the policy allows, until the task is done.
//!
//! Every tool is also a command: `coder file read README.md`. `coder policy check` shows the policy. `coder file
//! undo-turn 3` undoes the changes of the third turn of the last run in the present folder. `coder rewind r1 --turn
//! 2` returns a recorded run to its second turn, both its files and its conversation.

mod agents;
mod application;
mod arguments;
mod counted;
mod durable;
mod end;
mod journal;
mod model;
mod offline;
mod report;
mod rewind;
mod run;
mod said;
mod shown;
mod signals;
mod sizes;
mod state;
mod task;
mod transcript;

use std::process::ExitCode;
use std::time::Duration;

use clap::{ArgMatches, Command};
use toolwright::cli;
use toolwright_toolbox::Supervisor;

use self::arguments::{Arguments, Durable};
use self::end::Problem;
use self::signals::Signals;
use self::transcript::Transcript;

fn main() -> ExitCode {
    match application() {
        Ok(code) => ExitCode::from(code),
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::from(problem.exit_code())
        }
    }
}

fn application() -> Result<u8, Problem> {
    // A process that was started as the supervisor, and has not become it before `main`, does so here and never
    // returns.
    Supervisor::supervise_if_asked();
    let matches = match command()?.try_get_matches() {
        Ok(matches) => matches,
        // clap returns a request for help as an error, too.
        Err(message) => {
            let _ = message.print();
            return Ok(if message.use_stderr() { 2 } else { 0 });
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Problem::application("no tokio runtime", error))?;
    let ended = runtime.block_on(async {
        match matches.subcommand() {
            Some((arguments::NAME, below)) => run::run(&Arguments::of(below)?).await,
            Some((arguments::RESUME, below)) => {
                let transcript = Transcript::of(below.get_flag("json"));
                durable::resume(&Durable::of(below)?, transcript).await
            }
            Some((rewind::NAME, below)) => rewind::rewind(below).await,
            _ => tool(&matches).await,
        }
    });
    // This ends the programs of dropped calls. Do not wait longer for a blocking tool that is still running.
    runtime.shutdown_timeout(Duration::from_secs(2));
    ended
}

/// Declares the tools as commands, and the commands `run`, `resume` and `rewind`.
fn command() -> Result<Command, Problem> {
    let registry = application::commands()?;
    let tools = cli::command(&registry.catalog());
    let tools = tools.map_err(|error| Problem::application("no commands", error))?;
    Ok(tools
        .name("coder")
        .about("A coding agent, and its tools as commands")
        .subcommand(arguments::command())
        .subcommand(arguments::resume_command())
        .subcommand(rewind::command()))
}

/// Runs one tool in the present folder.
async fn tool(matches: &ArgMatches) -> Result<u8, Problem> {
    let is_about_lines = is_about_lines(matches);
    let log = state::log_of(".".as_ref())?;
    let (executor, without_wall) = application::of_commands(&log, is_about_lines)?;
    if let Some(words) = without_wall {
        eprintln!("note: {words}");
    }
    let signals = Signals::listen();
    let stopped = signals.token();
    tokio::select! {
        ended = cli::run(&executor, matches) => Ok(ended.code()),
        // Dropping the future cancels the call.
        () = stopped.cancelled() => Ok(signals.exit_code()),
    }
}

/// Returns whether a command runs or explains a command line.
fn is_about_lines(matches: &ArgMatches) -> bool {
    let below = |name: &str| matches.subcommand_matches(name).and_then(ArgMatches::subcommand);
    let is_explained = below("policy").is_some_and(|(name, _)| name == "explain");
    is_explained || below("command").is_some_and(|(name, _)| name == "bash")
}
