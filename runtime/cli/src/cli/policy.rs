//! `policy check|explain|test`: shows the decisions of a policy on calls, without running a call. Only the
//! application knows its tools, so the commands are part of its command line. `--policy` replaces the application's
//! policy for one command; the application's journal and workspace roots apply to both policies.

mod case;
mod check;
mod explain;
mod test;

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};

use super::Exit;
use super::flags;
use super::streams::complain;
use toolwright_executor::executor::Executor;
use toolwright_policy::policy::Policy;

pub(super) const NAME: &str = "policy";

/// The id of the argument that names a policy file, which replaces the application's policy.
const FILE: &str = "policy";

pub(super) fn command() -> Command {
    let command = Command::new(NAME)
        .about("Check, explain and test which calls run, ask a person or are refused")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .disable_help_flag(true)
        .arg(flags::help());
    let each = [check::command(), explain::command(), test::command()];
    command.subcommands(each.map(|it| it.disable_help_flag(true).arg(flags::help())))
}

pub(super) fn run(executor: &Executor, matches: &ArgMatches) -> Result<(), Exit> {
    match matches.subcommand() {
        Some((check::NAME, below)) => check::run(executor, below),
        Some((explain::NAME, below)) => explain::run(executor, below),
        Some((test::NAME, below)) => test::run(executor, below),
        _ => Err(complain(Exit::Usage, "no command was given")),
    }
}

/// Whether the command line names a policy, so that the application's policy need not be valid.
pub(super) fn names_one(matches: &ArgMatches) -> bool {
    matches.subcommand().is_some_and(|(_, below)| file_of(below).is_some())
}

fn file_of(matches: &ArgMatches) -> Option<&PathBuf> {
    matches.get_one::<PathBuf>(FILE)
}

/// Makes the option `--policy FILE`.
fn flag() -> Arg {
    file().long("policy")
}

fn file() -> Arg {
    Arg::new(FILE)
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help("The policy, in the place of the application's")
}

/// Returns the policy that the command uses.
fn policy(executor: &Executor, matches: &ArgMatches) -> Result<Policy, Exit> {
    let Some(file) = file_of(matches) else { return Ok(executor.policy()) };
    let written = Policy::builder().load(file);
    executor.make_policy(written).map_err(|error| complain(Exit::Usage, error))
}
