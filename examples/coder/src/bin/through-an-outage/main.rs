//! Sends twenty recorded runs through an outage of their provider, while one of them crashes its process again and
//! again.
//!
//! The provider is a server on loopback, whose outage begins with the first request for a second answer. One process
//! works on all runs. A tool of one run crashes the process, and the trial kills the process once in the middle of the
//! outage. Each time, the process is started again. All runs but the crashing one should end, with each order booked
//! once.

mod ledger;
mod provider;
mod report;
mod watch;
mod work;

use std::process::ExitCode;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, value_parser};

use self::watch::Plan;

type Error = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    match application() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn application() -> Result<ExitCode, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    if let Some(place) = work::Place::of(std::env::args_os().skip(1))? {
        runtime.block_on(work::work(&place))?;
        return Ok(ExitCode::SUCCESS);
    }
    let plan = match command().try_get_matches() {
        Ok(matches) => plan(&matches),
        // clap returns the text of `--help` as an error too.
        Err(message) => {
            message.print()?;
            return Ok(ExitCode::from(if message.use_stderr() { 2 } else { 0 }));
        }
    };
    let report = runtime.block_on(watch::through(&plan))?;
    print!("{report}");
    Ok(if report.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn command() -> Command {
    let number = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    Command::new("through-an-outage")
        .about("Takes recorded runs through an outage of their provider, with a run among them that kills its process")
        .after_help("Exit code: 0 all that is promised holds, 1 it does not, 2 it could not be tried")
        .args([
            number("outage", "SECONDS", "How long the provider is away")
                .value_parser(value_parser!(u64).range(1..=3_600))
                .default_value("60"),
            number("runs", "N", "How many runs there are, the one that kills its process among them")
                .value_parser(value_parser!(u16).range(2..=1_000))
                .default_value("20"),
        ])
}

fn plan(matches: &ArgMatches) -> Plan {
    let outage = matches.get_one("outage").copied().unwrap_or(60);
    let runs = matches.get_one::<u16>("runs").copied().unwrap_or(20);
    Plan { outage: Duration::from_secs(outage), runs }
}
