//! The long form of what `cargo test -p call-model` explores:
//!
//! ```text
//! cargo run --release -p call-model
//! cargo run --release -p call-model -- --calls 1 --workers 2 --crashes 1 --lapses 1 --deadlines 1
//! cargo run --release -p call-model -- --calls 2 --attempts 3 --workers 3
//! ```
//!
//! Without options it shows for each check which property is violated without it, and explores the default scenarios,
//! one line each. `--calls` explores as many calls and mishaps as its other options allow; each kind of mishap makes
//! it several times slower. For a violated property it prints the steps, and the decisions as JSON lines.
//!
//! `--story` prints the decisions of one call that is edited, becomes a dead letter, is requeued and succeeds.

use std::process::ExitCode;

use call_model::cases::cases;
use call_model::report::explore;
use call_model::scenario::{Budget, Scenario};
use call_model::scenarios::{long, short, wide};
use call_model::story::edited_and_requeued;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

const NUMBERS: [(&str, i64, &str); 12] = [
    ("calls", 2, "calls of the turn, explored apart where it is 1"),
    ("workers", 3, "workers"),
    ("attempts", 9, "attempts in one generation"),
    ("generations", 6, "generations"),
    ("crashes", 9, "crashes"),
    ("lapses", 9, "leases that lapse though their owner lives"),
    ("deadlines", 9, "deadlines that pass"),
    ("unheard", 9, "commits that succeed without a reply"),
    ("changes", 9, "changes of the tools"),
    ("policies", 9, "changes of the policy"),
    ("delays", 9, "delays by a stage, where there are stages"),
    ("rewrites", 9, "rewritten records, where an adversary writes the journal"),
];

fn main() -> ExitCode {
    let numbers = NUMBERS.map(|(name, most, help)| {
        let least = i64::from(matches!(name, "calls" | "workers" | "attempts" | "generations"));
        Arg::new(name).long(name).help(help).value_parser(value_parser!(u8).range(least..=most))
    });
    let threads = Arg::new("threads")
        .long("threads")
        .help("threads")
        .value_parser(value_parser!(u8).range(1..));
    let about = "Explores the life of calls: the decisions of production in a model of all actors on a journal";
    let story = Arg::new("story").long("story").help("print the decisions of one call").num_args(0);
    let command = Command::new("call-model").about(about).args(numbers).arg(threads);
    let matches = command.arg(story.action(ArgAction::SetTrue)).get_matches();
    if matches.get_flag("story") {
        let (_, decisions, _) = edited_and_requeued();
        decisions.iter().for_each(|decided| println!("{}", decided.to_line()));
        return ExitCode::SUCCESS;
    }
    let threads = matches.get_one::<u8>("threads").map_or(2, |threads| usize::from(*threads));
    let scenarios = match matches.get_one::<u8>("calls") {
        Some(calls) => long(*calls, |scenario| changed(scenario, &matches)),
        None => [short(), wide()]
            .concat()
            .into_iter()
            .map(|scenario| changed(scenario, &matches))
            .collect(),
    };
    let is_default = matches.get_one::<u8>("calls").is_none();
    let mut all_hold = true;
    for case in cases().into_iter().filter(|_| is_default) {
        let report = case.explore();
        let (guard, falls) = (case.guard, case.falls);
        match report.falls_after(falls) {
            Some(steps) => println!("without {guard:?}: falls after {steps} steps: {falls}"),
            None => println!("without {guard:?} this holds as well: {falls}"),
        }
        all_hold &= report.falls_after(falls).is_some();
    }
    for scenario in &scenarios {
        let report = explore(scenario, threads);
        println!("{report}");
        all_hold &= report.fall.is_empty();
    }
    if all_hold { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns a scenario with the numbers of the command line.
fn changed(scenario: Scenario, matches: &ArgMatches) -> Scenario {
    let number = |name: &str, or: u8| matches.get_one::<u8>(name).copied().unwrap_or(or);
    let budget = Budget {
        crashes: number("crashes", scenario.budget.crashes),
        lapses: number("lapses", scenario.budget.lapses),
        deadlines: number("deadlines", scenario.budget.deadlines),
        unheard: number("unheard", scenario.budget.unheard),
        changes: number("changes", scenario.budget.changes),
        policies: number("policies", scenario.budget.policies),
        delays: number("delays", scenario.budget.delays),
        rewrites: number("rewrites", scenario.budget.rewrites),
    };
    Scenario {
        workers: number("workers", scenario.workers),
        attempts: number("attempts", scenario.attempts),
        generations: number("generations", scenario.generations),
        budget,
        ..scenario
    }
}
