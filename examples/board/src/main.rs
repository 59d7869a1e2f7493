//! A board of tickets on which agents work. `board init` and `board new` set it up, `board run` works on it, and
//! `board serve` shows it in a browser. `board --offline` demonstrates all of it on three tickets, without network or
//! account.

mod serve;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use board::people::{self, PeopleError};
use board::runner::{OneModel, Runner, Settings, Worked};
use board::{Board, offline};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use jiff::Timestamp;
use toolwright::CancellationToken;
use toolwright::journal::SqliteStore;
use toolwright::runtime::printable;
use toolwright::toolbox::Supervisor;

/// The command that works on tickets.
const RUN: &str = "run";

fn main() -> ExitCode {
    // A process that was started as the supervisor, and has not become it before `main`, does so here and never
    // returns.
    Supervisor::supervise_if_asked();
    let matches = match command().try_get_matches() {
        Ok(matches) => matches,
        // clap returns a request for help as an error, too.
        Err(message) => {
            let _ = message.print();
            return ExitCode::from(if message.use_stderr() { 2 } else { 0 });
        }
    };
    match application(&matches) {
        Ok(is_good) => ExitCode::from(u8::from(!is_good)),
        Err(why) => {
            eprintln!("error: {}", printable::lines(&why));
            ExitCode::FAILURE
        }
    }
}

fn command() -> Command {
    let folder =
        Arg::new("folder").long("folder").global(true).value_parser(value_parser!(PathBuf));
    let folder = folder
        .help("The folder of the board; `.board` unless given, a temporary one with `--offline`");
    let offline = Arg::new("offline").long("offline").action(ArgAction::SetTrue);
    let offline = offline.help("Works on three tickets with recorded answers of a model");
    let seconds = |name: &'static str, usual: &'static str, help: &'static str| {
        Arg::new(name).long(name).default_value(usual).value_parser(value_parser!(u64)).help(help)
    };
    let run = Command::new(RUN).about("Works on tickets until it is interrupted").args([
        Arg::new("model")
            .long("model")
            .required(true)
            .help("Such as `anthropic:claude-sonnet-4-6`"),
        seconds("heartbeat", "60", "How many seconds it waits where nothing is to be done")
            .value_parser(value_parser!(u64).range(1..=1800)),
        seconds(
            "slice",
            "900",
            "How many seconds it works on a ticket before it looks for another",
        )
        .value_parser(value_parser!(u64).range(1..=900)),
        Arg::new("trust").long("trust").value_name("NAME=KEY").action(ArgAction::Append).help(
            "Whose decisions count: a name and the public key that `toolwright keys new` prints; yours unless given",
        ),
        Arg::new("once")
            .long("once")
            .action(ArgAction::SetTrue)
            .help("Ends where nothing is to be done"),
    ]);
    Command::new("board")
        .about("A board of tickets on which agents work")
        .args([folder, offline])
        .subcommands(people::commands())
        .subcommand(run)
        .subcommand(serve::command())
}

fn application(matches: &ArgMatches) -> Result<bool, String> {
    let named: Option<&PathBuf> = matches.get_one("folder");
    if matches.get_flag("offline") {
        return match named {
            Some(folder) => blocking(offline(folder)),
            None => {
                let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
                blocking(offline(folder.path()))
            }
        };
    }
    let folder = named.cloned().unwrap_or_else(|| ".board".into());
    let Some((name, below)) = matches.subcommand() else {
        return Err("found no command, expected one; see `board --help`".to_owned());
    };
    if name == "init" {
        std::fs::create_dir_all(&folder)
            .map_err(|error| format!("the folder of the board cannot be made: {error}"))?;
    } else if !folder.join("board.db").is_file() {
        let folder = folder.display();
        return Err(format!(
            "found no board in `{folder}`; make one with `board init`, or name its folder with `--folder`"
        ));
    }
    let folder = folder.canonicalize().map_err(|error| error.to_string())?;
    let board = open(&folder)?;
    if name == RUN {
        return blocking(run(board, &folder, below));
    }
    if name == serve::NAME {
        return blocking(async {
            let journal = Arc::new(journal(&folder).await?);
            serve::run(board, journal, below, stopped()).await
        });
    }
    let said = people::run(&board, &folder, name, below, Timestamp::now());
    println!("{}", said.map_err(|error: PeopleError| error.to_string())?);
    Ok(true)
}

fn open(folder: &Path) -> Result<Arc<Board>, String> {
    Board::open(folder.join("board.db")).map(Arc::new).map_err(|error| error.to_string())
}

/// Opens the journal of the tickets' runs.
async fn journal(folder: &Path) -> Result<SqliteStore, String> {
    SqliteStore::open(folder.join("calls.db")).await.map_err(|error| error.to_string())
}

fn blocking(work: impl Future<Output = Result<bool, String>>) -> Result<bool, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("no tokio runtime: {error}"))?;
    let ended = runtime.block_on(work);
    // Do not wait longer for a blocking tool that is still running.
    runtime.shutdown_timeout(Duration::from_secs(2));
    ended
}

/// Makes a runner of the board in this folder.
async fn runner(
    board: Arc<Board>,
    folder: &Path,
    models: Arc<dyn board::runner::Models>,
    settings: Settings,
) -> Result<Runner, String> {
    let journal = journal(folder).await?;
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let executables = own.parent().map(Path::to_owned).unwrap_or_default();
    Ok(Runner {
        board,
        journal: Arc::new(journal),
        folder: folder.to_owned(),
        executables,
        supervisor: Supervisor::program(own),
        models,
        settings,
        approvers: Vec::new(),
        clock: Arc::new(Timestamp::now),
        added: Vec::new(),
    })
}

fn report(worked: &Worked) {
    println!("ticket {}: {}: {}", worked.ticket, worked.outcome, printable::line(&worked.detail));
}

/// Returns a token that the first SIGINT or SIGTERM cancels.
fn stopped() -> CancellationToken {
    let token = CancellationToken::new();
    let stop = token.clone();
    tokio::spawn(async move {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut terminate) = signal(SignalKind::terminate()) else { return };
        tokio::select! { _ = tokio::signal::ctrl_c() => {} _ = terminate.recv() => {} }
        stop.cancel();
    });
    token
}

async fn run(board: Arc<Board>, folder: &Path, given: &ArgMatches) -> Result<bool, String> {
    let seconds =
        |name: &str, usual| Duration::from_secs(given.get_one(name).copied().unwrap_or(usual));
    let name = given.get_one::<String>("model").map_or("", String::as_str);
    let models = OneModel::named(name).map_err(|error| error.to_string())?;
    let settings = Settings {
        heartbeat: seconds("heartbeat", 60),
        slice: seconds("slice", 900),
        ..Settings::default()
    };
    let mut runner = runner(board, folder, Arc::new(models), settings).await?;
    for trusted in given.get_many::<String>("trust").unwrap_or_default() {
        let (name, key) = trusted.split_once('=').unwrap_or((trusted, ""));
        let key = key.parse().map_err(|error| {
            format!("found `--trust {trusted}`, expected NAME=KEY with the key that `toolwright keys new` prints: {error}")
        })?;
        runner.approvers.push((name.to_owned(), key));
    }
    if runner.approvers.is_empty() {
        runner.approvers.extend(serve::own_key()?.map(|it| (it.name().to_owned(), it.public())));
    }
    let stop = stopped();
    if given.get_flag("once") {
        while let Some(worked) = runner.heartbeat(&stop).await.map_err(|error| error.to_string())? {
            report(&worked);
            if stop.is_cancelled() {
                break;
            }
        }
        return Ok(true);
    }
    runner.work(&stop, report).await.map_err(|error| error.to_string())?;
    Ok(true)
}

/// Works on the recorded tickets. Returns whether each ended as it did when it was recorded.
async fn offline(folder: &Path) -> Result<bool, String> {
    let folder =
        folder.canonicalize().map_err(|error| format!("`{}`: {error}", folder.display()))?;
    let board = open(&folder)?;
    offline::prepare(&folder, &board, Timestamp::now()).map_err(|error| error.to_string())?;
    let models = Arc::new(offline::RecordedModels::default());
    let settings = Settings {
        // A short lease, so that another process soon takes over from one that was killed.
        lease: Duration::from_secs(1),
        heartbeat: Duration::from_millis(200),
        ..Settings::default()
    };
    let runner = runner(Arc::clone(&board), &folder, models, settings).await?;
    let stop = stopped();
    loop {
        match runner.heartbeat(&stop).await.map_err(|error| error.to_string())? {
            Some(worked) => report(&worked),
            None if offline::is_over(&board).map_err(|error| error.to_string())? => break,
            // Another process has claimed a ticket, and the claim has not ended.
            None => tokio::time::sleep(runner.settings.heartbeat).await,
        }
        if stop.is_cancelled() {
            return Ok(false);
        }
    }
    println!("\n{}", people::board(&board).map_err(|error| error.to_string())?);
    offline::is_as_recorded(&board).map_err(|error| error.to_string())
}
