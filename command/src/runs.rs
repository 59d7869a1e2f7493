//! `runs`: shows the runs of agents in a journal, and controls them.

mod rewind;
mod tree;
mod watch;
mod which;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use toolwright_agent::durable::{Head, Phase, RunError, Runs};

use crate::operator::{Session, Stop, session};
use crate::shown::run::{RunPage, TurnShown};
use crate::shown::sent::SentHistory;
use crate::shown::table::Table;
use crate::shown::{printable, when};
use crate::{Exit, complain, tell};

pub(crate) const NAME: &str = "runs";

const RUN: &str = "run";
const ALL: &str = "all";
const BY: &str = "by";
const WHY: &str = "why";
const TURN: &str = "turn";
const AS: &str = "as";
const PARKED: &str = "parked";
const WHOLE: &str = "whole";
const TREE: &str = "tree";

const AFTER_HELP: &str = "\
With --json, `list` and `show` write a run a line: {\"run\", \"agent\", \"user\", \"session\", \"phase\", \"turn\", \
\"input_tokens\", \"cached_tokens\", \"output_tokens\", \"reasoning_tokens\", \"cost\": \"$0.0200\" or null where nothing has a price, \
\"prices\": date, \"unmeasured\": answers, \"unpriced\": answers, \"ended\", \"waiting\": [{\"index\", \"call\", \"tool\", \"state\"}], \"epoch\", \
\"lease\": {\"driver\", \"until\"}, \"parked\": {\"why\", \"at\", \"until\"}, \"cancelled\": {\"who\", \"why\", \"at\"}, \
\"deadline\", \"forked\": {\"run\", \"turn\"}, \"rewound\": {\"to\": {\"run\", \"turn\"}} or {\"unfinished\": {\"run\"}}, \"encrypted\", \"created\", \"updated\"}. `show` and `watch` write a turn a \
line after it: {\"run\", \"turn\", \"said\": [text], \"text\", \"calls\": [{\"tool\", \"arguments\"}], \"model\", \"usage\", \"cost\", \"prices\", \
\"answers\": [{\"tool\", \"is_error\", \"text\"}]}; `answers` is null while calls have no answer; \
\"handed_off_to\": agent where the run was handed off; with --whole, \
\"left_out\": {\"turns\": [turn], \"repeated\": [turn], \"shortened\": [turn]} where the model was not sent the whole history. `show --tree` and `watch` write a sub-agent a line: {\"run\", \"call\", \"agent\", \"agents\": [name], \
\"parent\": call or null, \"turn\", \"state\", \"ended\", \"turns\", \"input_tokens\", \"output_tokens\", \"cost\", \"own_cost\"}; tokens and `cost` count those \
that it has started. `rewind` and `redo` write {\"run\", \"turn\", \"from\" or \"removed\": run, \"restored\": [file], \"stays\": [{\"run\", \"turn\", \"call\", \"tool\", \"state\", \"arguments\"}]}.

Exit code: 0 done; 1 the journal failed, or a run cannot be read; 2 the command line is wrong, or what it asks for cannot \
be done; 3 there is no such run.";

pub(crate) fn command() -> Command {
    let run = || Arg::new(RUN).value_name("RUN").required(true).help("The id of a run");
    let by = Arg::new(BY)
        .long(BY)
        .value_name("NAME")
        .help("Who asks for it; the user's name unless given");
    let why = Arg::new(WHY).long(WHY).value_name("TEXT").default_value("an operator cancelled it");
    let turn = Arg::new(TURN).long(TURN).value_name("N").required(true);
    Command::new(NAME)
        .about("Show the runs of agents, watch, cancel, resume, fork, rewind and remove them")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .args(session::options())
        .subcommands([
            Command::new("list")
                .about("List the runs that go on")
                .arg(
                    Arg::new(ALL)
                        .long(ALL)
                        .action(ArgAction::SetTrue)
                        .help("Those that have ended too"),
                )
                .args(which::filters()),
            Command::new("show").about("Show the state of a run, and its history").args([
                run(),
                Arg::new(WHOLE)
                    .long(WHOLE)
                    .action(ArgAction::SetTrue)
                    .help("Print texts in full, and list what was left out of each request to the model"),
                Arg::new(TREE)
                    .long(TREE)
                    .action(ArgAction::SetTrue)
                    .help("Show the tree of the run and its sub-agents, with their usage, instead of its history"),
            ]),
            watch::command(run()),
            Command::new("cancel")
                .about("Request the end of a run: its driver answers the open calls first")
                .args([run(), by, why.help("Why, for the record")]),
            Command::new("resume")
                .about("Resume a run at once that is parked or whose model cannot be reached")
                .args([
                    run().required(false).required_unless_present(PARKED),
                    Arg::new(PARKED)
                        .long(PARKED)
                        .action(ArgAction::SetTrue)
                        .conflicts_with(RUN)
                        .help("All runs that are parked"),
                ]),
            Command::new("fork")
                .about("Make a new run from the first turns of another; their calls do not run again")
                .args([
                    run(),
                    turn.value_parser(value_parser!(u64)).help("The last turn that both have"),
                    Arg::new(AS)
                        .long(AS)
                        .value_name("RUN")
                        .required(true)
                        .help("The id of the new run"),
                ]),
            Command::new("remove")
                .about("Remove the record of a run that has ended; its calls stay, and its id cannot be used again")
                .arg(run()),
        ])
        .subcommands(rewind::commands(&run))
        .after_help(AFTER_HELP)
}

pub(crate) fn run(matches: &ArgMatches) -> Exit {
    match matches.subcommand() {
        Some(("list", matches)) => session::run(matches, async |it| list(matches, it).await),
        Some(("show", matches)) => session::run(matches, async |it| show(matches, it).await),
        Some((watch::NAME, matches)) => {
            session::run(matches, async |it| watch::run(matches, it).await)
        }
        Some(("cancel", matches)) => session::run(matches, async |it| cancel(matches, it).await),
        Some(("resume", matches)) => session::run(matches, async |it| resume(matches, it).await),
        Some(("remove", matches)) => session::run(matches, async |it| remove(matches, it).await),
        Some((rewind::REWIND, matches)) => {
            session::run(matches, async |it| rewind::back(matches, it).await)
        }
        Some((rewind::REDO, matches)) => {
            session::run(matches, async |it| rewind::redo(matches, it).await)
        }
        Some(("fork", matches)) => session::run(matches, async |it| fork(matches, it).await),
        _ => complain(Exit::Usage, "no such command"),
    }
}

fn runs(session: &Session) -> Runs {
    Runs::of(std::sync::Arc::clone(&session.store))
}

fn text<'m>(matches: &'m ArgMatches, name: &str) -> &'m str {
    matches.get_one::<String>(name).map_or("", String::as_str)
}

/// Finds the run that the command line names.
async fn find_named(matches: &ArgMatches, runs: &Runs) -> Result<Head, Stop> {
    runs.head(text(matches, RUN)).await.map_err(stop_of)
}

fn stop_of(error: RunError) -> Stop {
    match error {
        RunError::Store(error) => error.into(),
        RunError::NoSuchRun { run } => Stop::new(
            Exit::Missing,
            format!(
                "there is no run {run:?} in this journal: `toolwright runs list --all` lists those that are"
            ),
        ),
        error @ (RunError::NotNow { .. }
        | RunError::Exists { .. }
        | RunError::Id { .. }
        | RunError::Driven { .. }
        | RunError::FilesChanged { .. }) => Stop::usage(error.to_string()),
        error => Stop::new(Exit::Failed, error.to_string()),
    }
}

async fn list(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let runs = runs(session);
    let filter = which::read_filter(matches, session.now);
    let mut found = runs.list_open().await.map_err(stop_of)?;
    if matches.get_flag(ALL) || filter.phase == Some(Phase::Ended) {
        found.extend(runs.list_ended().await.map_err(stop_of)?);
    }
    let mut table = Table::new(["RUN", "AGENT", "USER", "PHASE", "TURN", "UPDATED", "WAITS FOR"]);
    let mut is_whole = true;
    for head in found {
        let head = match head {
            Ok(head) if !filter.takes(&head) => continue,
            Ok(head) => head,
            Err(error) => {
                is_whole = false;
                tell("warning", printable::line(&error.to_string()));
                continue;
            }
        };
        let shown = RunPage::of(&head);
        if session.output == crate::operator::Output::Json {
            session.output.object(&shown)?;
            continue;
        }
        let (turn, updated) = (head.turn.to_string(), when::away(head.updated, session.now));
        let tools: Vec<&str> = head.waiting.iter().map(|call| call.tool.as_str()).collect();
        let user = head.user.as_deref().unwrap_or("-");
        table.row([
            &head.run,
            &head.agent,
            user,
            &shown.standing(),
            &turn,
            &updated,
            &tools.join(", "),
        ]);
    }
    if session.output == crate::operator::Output::Text {
        session.output.text(table)?;
    }
    if is_whole { Ok(()) } else { Err(Stop::after(Exit::Failed)) }
}

async fn show(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let runs = runs(session);
    let head = find_named(matches, &runs).await?;
    if matches.get_flag(TREE) {
        return tree::show(&head, &runs, session).await;
    }
    session.output.write(&RunPage::of(&head), || RunPage::of(&head).page(session.now))?;
    if Runs::is_encrypted(&head) {
        tell("note", "the texts of this run are encrypted; its application can read them");
        return Ok(());
    }
    // Messages of the user after the last answer belong to the next turn.
    let mut sent = SentHistory::default();
    for number in 1..=head.turn + 1 {
        let recorded = runs.turn(&head.run, number).await.map_err(stop_of)?;
        let mut turn = TurnShown::of(&head.run, number, &recorded);
        if matches.get_flag(WHOLE) {
            turn = turn.whole(sent.without(number, &recorded));
        }
        if !turn.is_empty() {
            session.output.write(&turn, || turn.words())?;
        }
    }
    Ok(())
}

async fn cancel(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let runs = runs(session);
    let head = find_named(matches, &runs).await?;
    let user = std::env::var("USER").ok().filter(|user| !user.is_empty());
    let by = matches.get_one::<String>(BY).cloned().or(user).ok_or_else(|| {
        Stop::usage(
            "found no name of who cancels the run, neither `--by` nor USER; give `--by NAME`"
                .to_owned(),
        )
    })?;
    let is_new = runs.cancel(&head.run, &by, text(matches, WHY), session.now).await;
    let run = printable::line(&head.run);
    match is_new.map_err(stop_of)? {
        true => tell(
            "note",
            format!("run {run} ends as soon as a process that works on the journal sees it"),
        ),
        false => tell("note", format!("run {run} has ended, or its end was asked for before")),
    }
    let head = runs.head(&head.run).await.map_err(stop_of)?;
    session.output.write(&RunPage::of(&head), String::new)
}

async fn resume(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let runs = runs(session);
    let mut is_whole = true;
    let named = match matches.get_flag(PARKED) {
        false => vec![find_named(matches, &runs).await?],
        true => {
            let mut parked = Vec::new();
            for head in runs.list_open().await.map_err(stop_of)? {
                match head {
                    Ok(head) if head.parked.is_some() => parked.push(head),
                    Ok(_) => {}
                    Err(error) => {
                        tell("warning", printable::line(&error.to_string()));
                        is_whole = false;
                    }
                }
            }
            parked
        }
    };
    if named.is_empty() && is_whole {
        tell("note", "no run of this journal is parked");
    }
    for head in named {
        let run = printable::line(&head.run);
        match runs.resume(&head.run, session.now).await.map_err(stop_of)? {
            true => {
                tell(
                    "note",
                    format!("run {run} goes on as soon as a process works on the journal"),
                );
            }
            false => tell("note", format!("run {run} is not parked, and its model is not away")),
        }
        let head = runs.head(&head.run).await.map_err(stop_of)?;
        session.output.write(&RunPage::of(&head), String::new)?;
    }
    if is_whole { Ok(()) } else { Err(Stop::after(Exit::Failed)) }
}

async fn remove(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let runs = runs(session);
    let head = find_named(matches, &runs).await?;
    runs.remove(&head.run, session.now).await.map_err(stop_of)?;
    tell("note", format!("run {} is removed; its calls stay", printable::line(&head.run)));
    Ok(())
}

async fn fork(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let runs = runs(session);
    let turn = matches.get_one::<u64>(TURN).copied().unwrap_or_default();
    let forked = runs.fork(text(matches, RUN), turn, text(matches, AS), session.now).await;
    let head = forked.map_err(stop_of)?;
    session.output.write(&RunPage::of(&head), || RunPage::of(&head).page(session.now))
}
