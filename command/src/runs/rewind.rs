//! `runs rewind RUN --turn N` and `runs redo RUN`: go back to an earlier turn, with the files of a workspace, and
//! forward again.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Arg, ArgMatches, Command, value_parser};
use serde::Serialize;
use toolwright_agent::durable::{LastingEffect, Runs};
use toolwright_toolbox::{ChangeLog, Workspace};

use super::{runs, stop_of, text};
use crate::Exit;
use crate::operator::{Session, Stop};
use crate::shown::printable;
use crate::tell;

pub(super) const REWIND: &str = "rewind";

pub(super) const REDO: &str = "redo";

const TURN: &str = "turn";
const AS: &str = "as";
const WORKSPACE: &str = "workspace";
const CHANGES: &str = "changes";

pub(super) fn commands(run: &dyn Fn() -> Arg) -> [Command; 2] {
    let path = |name: &'static str, value: &'static str, help: &'static str| {
        let path = Arg::new(name).long(name).value_name(value).required(true).help(help);
        path.value_parser(value_parser!(PathBuf))
    };
    let files = || {
        [
            path(WORKSPACE, "DIR", "The folder that the run works in"),
            path(CHANGES, "FILE", "The log of what its calls changed there"),
        ]
    };
    let turn = Arg::new(TURN).long(TURN).value_name("N").required(true);
    let new = Arg::new(AS).long(AS).value_name("RUN");
    [
        Command::new(REWIND)
            .about("Go back to an earlier turn of a run: a new run goes on from there, and the files are those of that turn")
            .args([
                run(),
                turn.value_parser(value_parser!(u64)).help("The last turn that stays"),
                new.help("The id of the new run; that of the run with the turn unless given"),
            ])
            .args(files()),
        Command::new(REDO)
            .about("Undo a rewind, as long as nothing new was done in the new run")
            .arg(run())
            .args(files()),
    ]
}

/// The outcome of a rewind or a redo.
#[derive(Serialize)]
struct RewindReport<'a> {
    /// The id of the run that can be resumed.
    run: &'a str,
    turn: u64,
    /// The id of the run that was rewound.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'a str>,
    /// The id of the run that a redo removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<&'a str>,
    restored: &'a [String],
    stays: Vec<Stays<'a>>,
}

/// A call whose effect no rewind can undo.
#[derive(Serialize)]
struct Stays<'a> {
    run: &'a str,
    turn: u64,
    call: String,
    tool: &'a str,
    state: Option<String>,
    arguments: &'a str,
}

impl<'a> Stays<'a> {
    fn of(effect: &'a LastingEffect) -> Self {
        Self {
            run: &effect.run,
            turn: effect.turn,
            call: effect.call.to_string(),
            tool: &effect.tool,
            state: effect.state.map(|it| it.to_string()),
            arguments: &effect.shown,
        }
    }

    fn words(&self) -> String {
        let state = self.state.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        format!("stays     turn {}, {} {}{state}", self.turn, self.tool, self.arguments)
    }
}

impl RewindReport<'_> {
    fn words(&self) -> String {
        let mut lines: Vec<String> =
            self.restored.iter().map(|file| format!("restored  {file}")).collect();
        lines.extend(self.stays.iter().map(Stays::words));
        lines.push(format!("run       {} goes on from turn {}", self.run, self.turn));
        lines.iter().fold(String::new(), |text, line| text + &printable::line(line) + "\n")
    }
}

pub(super) async fn back(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let (runs, log): (Runs, _) = (runs(session), log_of(matches)?);
    let turn = matches.get_one::<u64>(TURN).copied().unwrap_or_default();
    let new = matches.get_one::<String>(AS).map(String::as_str);
    let run = text(matches, super::RUN);
    let rewind = runs.rewind(run, turn, new, &log, session.now).await.map_err(stop_of)?;
    let stays = rewind.lasting.iter().map(Stays::of).collect();
    let (from, restored) = (Some(run), rewind.files.as_slice());
    let shown = RewindReport { run: &rewind.head.run, turn, from, removed: None, restored, stays };
    session.output.write(&shown, || shown.words())
}

pub(super) async fn redo(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let (runs, log): (Runs, _) = (runs(session), log_of(matches)?);
    let redone = runs.redo(text(matches, super::RUN), &log, session.now).await;
    let redone = redone.map_err(stop_of)?;
    tell("note", format!("run {} is removed", printable::line(&redone.removed)));
    let (removed, restored) = (Some(redone.removed.as_str()), redone.files.as_slice());
    let (run, turn, stays) = (&redone.head.run, redone.head.turn, Vec::new());
    let shown = RewindReport { run, turn, from: None, removed, restored, stays };
    session.output.write(&shown, || shown.words())
}

/// Opens the change log that the command line names. The file has to exist, since an empty log would restore nothing.
fn log_of(matches: &ArgMatches) -> Result<ChangeLog, Stop> {
    let path = |name: &str| matches.get_one::<PathBuf>(name).cloned().unwrap_or_default();
    let (folder, file) = (path(WORKSPACE), path(CHANGES));
    let workspace = Workspace::open(&folder).map_err(|error| {
        Stop::usage(format!("the folder `{}` cannot be opened: {error}", folder.display()))
    })?;
    if !file.exists() {
        return Err(Stop::usage(format!(
            "found no log of changes `{}`, expected the one that the application gives `ChangeLog::open`",
            file.display()
        )));
    }
    let log = ChangeLog::open(&file, Arc::new(workspace));
    log.map_err(|error| Stop::new(Exit::Failed, error.to_string()))
}
