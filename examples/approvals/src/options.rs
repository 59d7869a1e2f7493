//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use toolwright::approval::PublicKey;

use crate::model::Task;

/// The options of the command line.
pub struct Options {
    pub run: String,
    pub task: Task,
    pub journal: PathBuf,
    pub ledger: PathBuf,
    pub approvers: Vec<(String, PublicKey)>,
    pub once: bool,
    pub pause: Option<Duration>,
    pub expires: Duration,
    pub lease: Duration,
}

impl Options {
    /// Reads the command line. Ends the process if it is wrong.
    pub fn of_command_line() -> Self {
        Self::of(&command().get_matches())
    }

    fn of(matches: &ArgMatches) -> Self {
        let path = |name: &str| matches.get_one::<PathBuf>(name).cloned().unwrap_or_default();
        let number = |name: &str| matches.get_one::<u64>(name).copied();
        let seconds = |name: &str| Duration::from_secs(number(name).unwrap_or_default());
        Self {
            run: matches.get_one::<String>("RUN").cloned().unwrap_or_default(),
            task: match (matches.get_flag("parcels"), matches.get_flag("mistaken")) {
                (true, _) => Task::Parcels,
                (false, true) => Task::Mistaken,
                (false, false) => Task::Refund,
            },
            journal: path("journal"),
            ledger: path("ledger"),
            approvers: matches.get_many("approver").into_iter().flatten().cloned().collect(),
            once: matches.get_flag("once"),
            pause: number("pause").map(Duration::from_millis),
            expires: seconds("expires"),
            lease: seconds("lease"),
        }
    }
}

fn command() -> Command {
    let option =
        |name: &'static str, value, help| Arg::new(name).long(name).value_name(value).help(help);
    let number = value_parser!(u64).range(1..=1_000_000);
    Command::new("approvals")
        .about("A scripted agent of a shop, whose refunds a person approves with `toolwright approvals`")
        .after_help(
            "Exit code: 0 every call is answered; 1 something failed; 2 the command line is wrong; \
             3 something waits (with --once).",
        )
        .args([
            Arg::new("RUN").required(true).help("The run, such as ticket-1; started again, it goes on where it was"),
            option("journal", "PATH", "The SQLite file that calls are kept in; made where there is none")
                .required(true)
                .value_parser(value_parser!(PathBuf)),
            option("approver", "NAME=KEY", "Whose word counts: ada=ed25519:…, as `toolwright keys new` prints it; repeatable")
                .required(true)
                .action(ArgAction::Append)
                .value_parser(approver),
            option("ledger", "PATH", "The file that plays the outside world: a line for each thing that happened")
                .default_value("ledger.txt")
                .value_parser(value_parser!(PathBuf)),
            Arg::new("parcels")
                .long("parcels")
                .action(ArgAction::SetTrue)
                .help("Send three parcels instead, each of which goes wrong in a way of its own"),
            Arg::new("mistaken")
                .long("mistaken")
                .action(ArgAction::SetTrue)
                .conflicts_with("parcels")
                .help("Refund an order that does not exist, which is refused before a person is asked"),
            Arg::new("once")
                .long("once")
                .action(ArgAction::SetTrue)
                .help("Do what can be done now, and do not wait"),
            option("pause", "MS", "Dawdle before and after each refund is paid, so that you can kill it in between")
                .value_parser(number),
            option("expires", "SECONDS", "How long a person may think")
                .default_value("86400")
                .value_parser(number),
            option("lease", "SECONDS", "How long until the call of a process that was killed is taken up")
                .default_value("30")
                .value_parser(number),
        ])
}

fn approver(text: &str) -> Result<(String, PublicKey), String> {
    let (name, key) = text
        .split_once('=')
        .ok_or("expected a name and a public key, such as ada=ed25519:d75a…")?;
    let key = key.parse().map_err(|error| format!("{error}"))?;
    Ok((name.to_owned(), key))
}
