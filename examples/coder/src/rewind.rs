//! `coder rewind`: returns a run and its folder to an earlier turn, or redoes that, as long as nothing new was done.

use std::io::{self, Write as _};
use std::sync::Arc;

use clap::builder::NonEmptyStringValueParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use jiff::Timestamp;
use serde_json::json;
use toolwright::printable;
use toolwright_agent::durable::{LastingEffect, RunError, Runs};
use toolwright_toolbox::{ChangeLog, Workspace};

use crate::arguments::{journal_of, journal_option, run_argument};
use crate::durable::{Stored, refused, stored_of};
use crate::end::Problem;
use crate::journal::Journal;
use crate::state;

pub const NAME: &str = "rewind";

pub fn command() -> Command {
    Command::new(NAME)
        .about("Go back to an earlier turn of a recorded run: another run goes on from there, and the files are those of that turn")
        .after_help(
            "What programs and other calls did stays, and is listed. `--redo` takes the rewind back, until the new run has done something.\n\n\
             Exit code: 0 done, 1 the log, the journal or the folder failed, 2 refused: nothing was changed",
        )
        .args([
            run_argument(),
            Arg::new("turn")
                .long("turn")
                .value_name("N")
                .value_parser(value_parser!(u64).range(1..))
                .required_unless_present("redo")
                .conflicts_with("redo")
                .help("The last turn that stays"),
            Arg::new("as")
                .long("as")
                .value_name("NAME")
                .value_parser(NonEmptyStringValueParser::new())
                .conflicts_with("redo")
                .help("The name of the run that goes on; that of the run with its turn unless given"),
            Arg::new("redo")
                .long("redo")
                .action(ArgAction::SetTrue)
                .help("Undo a rewind: name the run that went back, or the one that goes on"),
            journal_option(),
            Arg::new("help").short('h').long("help").help("Print help").action(ArgAction::Help),
        ])
}

/// Rewinds a run, or undoes a rewind.
pub async fn rewind(matches: &ArgMatches) -> Result<u8, Problem> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let run = text("run").unwrap_or_default();
    let journal = Journal::open_existing(&journal_of(matches)).await?;
    let runs = Runs::of(Arc::clone(&journal.store));
    let head = runs.head(run).await.map_err(refused)?;
    let log = log_of(&stored_of(&runs, &head)?, run)?;
    let now = Timestamp::now();
    if matches.get_flag("redo") {
        let redone = runs.redo(run, &log, now).await.map_err(unrestored)?;
        for file in &redone.files {
            note(&format!("restored `{file}`"));
        }
        let run = &redone.head.run;
        note(&format!("run `{run}` is where it was; `{}` is removed", redone.removed));
        return print(
            &json!({"run": run, "turn": redone.head.turn, "removed": redone.removed, "restored": redone.files}),
        );
    }
    let turn = matches.get_one::<u64>("turn").copied().unwrap_or_default();
    let rewind = runs.rewind(run, turn, text("as"), &log, now).await.map_err(unrestored)?;
    for file in &rewind.files {
        note(&format!("restored `{file}`"));
    }
    for effect in &rewind.lasting {
        note(&format!("stays: {}", words_of(effect)));
    }
    let to = &rewind.head.run;
    note(&match rewind.head.ended {
        None => format!("run `{to}` goes on from turn {turn}: `coder resume {to}`"),
        Some(_) => format!("run `{to}` has ended with turn {turn}"),
    });
    note(&format!("`coder rewind {run} --redo` takes this back, until something new is done"));
    let lasting = rewind.lasting.iter().map(|it| {
        json!({"run": it.run, "turn": it.turn, "call": it.call, "tool": it.tool, "state": it.state, "arguments": it.shown})
    });
    let lasting: Vec<_> = lasting.collect();
    print(
        &json!({"run": to, "turn": turn, "from": run, "restored": rewind.files, "stays": lasting}),
    )
}

/// Opens the log of the changes in the folder of a run.
fn log_of(stored: &Stored, run: &str) -> Result<ChangeLog, Problem> {
    let folder = stored.folder();
    let gone = |error: io::Error| Problem::Failed {
        what: format!("the folder `{}` of run `{run}` cannot be opened", folder.display()),
        why: error.to_string(),
    };
    let workspace = Workspace::open(folder).map_err(gone)?;
    let log = ChangeLog::open(state::log_of(folder)?, Arc::new(workspace));
    log.map_err(|error| Problem::failed("what the run changed is not known", error))
}

/// Makes the problem for files that were not restored. A refusal is a usage error and not a failure, since nothing was
/// changed.
fn unrestored(error: RunError) -> Problem {
    match error {
        error @ (RunError::NotNow { .. }
        | RunError::FilesChanged { .. }
        | RunError::Driven { .. }) => Problem::Usage(error.to_string()),
        RunError::ChangeLog { .. } => Problem::failed("the rewind is not finished", error),
        error => refused(error),
    }
}

fn words_of(effect: &LastingEffect) -> String {
    let LastingEffect { turn, tool, state, shown, .. } = effect;
    let state = state.map(|it| format!(" ({it})")).unwrap_or_default();
    format!("turn {turn}, {tool} {shown}{state}")
}

fn note(words: &str) {
    let _ = writeln!(io::stderr(), "{}", printable::line(words));
}

fn print(value: &serde_json::Value) -> Result<u8, Problem> {
    match writeln!(io::stdout(), "{value}").and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Problem::failed("what came of it cannot be written", error))
        }
        _ => Ok(0),
    }
}
