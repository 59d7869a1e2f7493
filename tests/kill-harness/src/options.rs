//! The command line.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, value_parser};

use crate::Opens;
use crate::agent::{AgentSetting, kill_agents};
use crate::board::{BoardSetting, kill_runners};
use crate::broken::Break;
use crate::harness::{Tally, run};
use crate::world::Setting;

/// The application under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Application {
    /// Turns of calls.
    Calls,
    /// Runs of an agent.
    Agent,
    /// Runners of the board.
    Board,
}

/// The parsed options.
pub struct Options {
    kills: u64,
    seed: u64,
    beside: usize,
    setting: Setting,
    application: Application,
    /// A temporary folder, which is removed unless something was found.
    own: Option<tempfile::TempDir>,
}

impl Options {
    /// Parses the command line. Ends the process where it is wrong.
    pub fn of_command_line() -> anyhow::Result<Self> {
        Self::of(&command().get_matches())
    }

    fn of(matches: &ArgMatches) -> anyhow::Result<Self> {
        let application = match matches.get_one::<String>("application").map(String::as_str) {
            Some("agent") => Application::Agent,
            Some("board") => Application::Board,
            _ => Application::Calls,
        };
        match application {
            Application::Calls => {}
            Application::Agent => fits_agent(matches)?,
            Application::Board => fits_board(matches)?,
        }
        let own = match matches.get_one::<PathBuf>("folder") {
            Some(_) => None,
            None => Some(tempfile::Builder::new().prefix("kill-harness-").tempdir()?),
        };
        let breaks = matches.get_one::<Break>("break").copied();
        let number = |name: &str| matches.get_one::<u64>(name).copied();
        let processes = number("processes").map(usize::try_from).transpose()?;
        let folder = match (&own, matches.get_one::<PathBuf>("folder")) {
            (_, Some(folder)) => folder.clone(),
            (Some(own), None) => own.path().to_owned(),
            (None, None) => std::env::temp_dir(),
        };
        let setting = Setting {
            program: std::env::current_exe()?,
            folder,
            processes: processes.unwrap_or_else(|| breaks.map_or(1, Break::processes)),
            breaks,
            lease: Duration::from_millis(number("lease").unwrap_or_default()),
        };
        Ok(Self {
            application,
            kills: number("kills").unwrap_or_default(),
            seed: number("seed").unwrap_or_else(|| fastrand::u64(..)),
            beside: usize::try_from(number("beside").unwrap_or(1))?,
            setting,
            own,
        })
    }

    /// Runs the trial, and prints its outcome.
    pub fn run(self, store: &dyn Opens) -> anyhow::Result<ExitCode> {
        match self.application {
            Application::Calls => {}
            Application::Agent => return self.run_agent(store),
            Application::Board => return self.run_board(),
        }
        let Self { kills, seed, beside, setting, own, .. } = self;
        let begun = Instant::now();
        println!("seed {seed}, {} process(es) on a journal", setting.processes);
        let tally = match run(&setting, kills, seed, beside, store) {
            Ok(tally) => tally,
            Err(error) => {
                keep(own);
                return Err(error);
            }
        };
        let is_good = match setting.breaks {
            Some(promise) => report_found(promise, &tally),
            None => tally.is_good(),
        };
        if tally.checked.findings.is_empty() {
            drop(own);
        } else {
            keep(own);
        }
        print(&tally, begun.elapsed());
        Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

impl Options {
    fn run_agent(self, store: &dyn Opens) -> anyhow::Result<ExitCode> {
        let Self { kills, seed, setting, own, .. } = self;
        let begun = Instant::now();
        println!("seed {seed}, runs of an agent");
        let breaks_write_ahead = setting.breaks.is_some();
        let Setting { program, folder, lease, .. } = setting;
        let setting = AgentSetting { program, folder, breaks_write_ahead, lease };
        let tally = match kill_agents(&setting, kills, seed, store) {
            Ok(tally) => tally,
            Err(error) => {
                keep(own);
                return Err(error);
            }
        };
        let is_found = !tally.findings.is_empty();
        if is_found {
            keep(own);
        }
        for (point, hits) in &tally.hits {
            println!("{hits:>6} {point}");
        }
        for point in tally.missed() {
            println!("never hit: {point}");
        }
        println!("{} calls checked in {} s", tally.calls, begun.elapsed().as_secs());
        if breaks_write_ahead {
            let not = if is_found { "" } else { "not " };
            println!("the broken promise `write-ahead` was {not}found");
        }
        println!("{tally}");
        let is_good = if breaks_write_ahead { is_found } else { tally.is_good() };
        Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

impl Options {
    fn run_board(self) -> anyhow::Result<ExitCode> {
        let Self { kills, seed, setting, own, .. } = self;
        let begun = Instant::now();
        println!("seed {seed}, two runners on a board");
        let setting = BoardSetting { program: setting.program, folder: setting.folder };
        let tally = match kill_runners(&setting, kills, seed) {
            Ok(tally) => tally,
            Err(error) => {
                keep(own);
                return Err(error);
            }
        };
        if !tally.is_good() {
            keep(own);
        }
        println!("{} tickets checked in {} s", tally.tickets, begun.elapsed().as_secs());
        println!("{tally}");
        Ok(if tally.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Refuses options that do not apply to runners of a board.
fn fits_board(matches: &ArgMatches) -> anyhow::Result<()> {
    for name in ["processes", "beside", "break", "lease"] {
        anyhow::ensure!(
            matches.value_source(name) != Some(ValueSource::CommandLine),
            "`--{name}` means nothing for `--application board`, where two runners work on one board; leave it out"
        );
    }
    Ok(())
}

fn report_found(promise: Break, tally: &Tally) -> bool {
    let is_found = !tally.checked.findings.is_empty();
    println!("the broken promise `{promise}` was {}found", if is_found { "" } else { "not " });
    is_found
}

/// Refuses options that do not apply to runs of an agent.
fn fits_agent(matches: &ArgMatches) -> anyhow::Result<()> {
    for (name, why) in [
        ("processes", "one process at a time drives the runs of a journal"),
        ("beside", "one journal is tried at a time"),
    ] {
        anyhow::ensure!(
            matches.value_source(name) != Some(ValueSource::CommandLine),
            "`--{name}` means nothing for `--application agent`, where {why}; leave it out"
        );
    }
    if let Some(promise) = matches.get_one::<Break>("break") {
        anyhow::ensure!(
            *promise == Break::WriteAhead,
            "`--break {promise}` means nothing for `--application agent`, expected `--break write-ahead`"
        );
    }
    Ok(())
}

/// Keeps the temporary folder, so that a person can find the cause.
fn keep(own: Option<tempfile::TempDir>) {
    if let Some(own) = own {
        eprintln!("what was found is left in {}", own.keep().display());
    }
}

fn print(tally: &Tally, time: Duration) {
    for (point, hits) in &tally.hits {
        println!("{hits:>6} {point}");
    }
    println!("{:>6} at a random instant", tally.at_random);
    for point in tally.missed() {
        println!("never hit: {point}");
    }
    println!("{} calls checked in {} s", tally.checked.calls, time.as_secs());
    println!("{tally}");
}

fn command() -> Command {
    let option =
        |name: &'static str, value, help| Arg::new(name).long(name).value_name(value).help(help);
    let number = |name, value, help| {
        option(name, value, help).value_parser(value_parser!(u64).range(1..=100_000_000))
    };
    Command::new("kill-harness")
        .about("Kills an application that keeps its calls in a journal, and says whether it kept what it promised")
        .after_help(
            "Exit code: 0 nothing was found (with --break: the fault was found); 1 something was found, or a kill \
             point was never hit in 500 kills or more (with --break: nothing was found); 2 it could not be tried.",
        )
        .args([
            number("kills", "N", "How many lives are ended").default_value("1000"),
            option("seed", "S", "What decides calls and kills; printed").value_parser(value_parser!(u64)),
            number("processes", "P", "How many processes share a journal, for calls alone; 1 unless a fault needs 2"),
            option("break", "PROMISE", "Break a promise of the store on purpose: fence, write-ahead, cas, renew or supply")
                .value_parser(|text: &str| text.parse::<Break>()),
            option("application", "NAME", "What is killed: calls, turns of calls; agent, runs of an agent; board, runners of the board")
                .value_parser(["calls", "agent", "board"])
                .default_value("calls"),
            number("lease", "MS", "The lease of executors").default_value("300"),
            number("beside", "N", "How many journals are tried at once, for calls alone").default_value("3"),
            option("folder", "PATH", "Where journals are kept, instead of a temporary folder")
                .value_parser(value_parser!(PathBuf)),
        ])
}

#[cfg(test)]
mod tests {
    use super::{Application, Options, command};

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    fn read(options: &str) -> Result<Application, String> {
        let words = ["kill-harness"].into_iter().chain(options.split_whitespace());
        let matches = command().try_get_matches_from(words).unwrap();
        Options::of(&matches).map(|it| it.application).map_err(|error| error.to_string())
    }

    #[test]
    fn options_that_mean_nothing_for_runs_of_an_agent_are_refused() {
        let expected = "`--processes` means nothing for `--application agent`, where one process at a time drives the runs \
                        of a journal; leave it out";
        assert_eq!(read("--application agent --processes 2"), Err(expected.to_owned()));
        let expected = "`--beside` means nothing for `--application agent`, where one journal is tried at a time; leave it out";
        assert_eq!(read("--application agent --beside 3"), Err(expected.to_owned()));
        let expected = "`--break fence` means nothing for `--application agent`, expected `--break write-ahead`";
        assert_eq!(read("--application agent --break fence"), Err(expected.to_owned()));
        assert_eq!(
            read("--application agent --break write-ahead --lease 300"),
            Ok(Application::Agent)
        );
        let expected = "`--lease` means nothing for `--application board`, where two runners work on one board; leave it out";
        assert_eq!(read("--application board --lease 300"), Err(expected.to_owned()));
        assert_eq!(read("--application board --kills 3"), Ok(Application::Board));
        assert_eq!(read("--processes 2 --beside 3 --break fence"), Ok(Application::Calls));
    }
}
