//! `completions SHELL`: prints the script by which a shell completes commands and flags.

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::{Shell, generate};

use super::Exit;
use super::streams::print_block;

pub(super) const NAME: &str = "completions";

const SHELL: &str = "shell";

pub(super) fn command() -> Command {
    let shell = Arg::new(SHELL)
        .value_name("SHELL")
        .required(true)
        .value_parser(value_parser!(Shell))
        .help("The shell that reads the script");
    Command::new(NAME)
        .about("Print the script by which a shell completes these commands")
        .arg(shell)
        .disable_help_flag(true)
        .arg(super::flags::help())
}

/// Prints the completion script; `whole` is the command line with all of its commands.
pub(super) fn run(mut whole: Command, matches: &ArgMatches) -> Result<(), Exit> {
    let Some(shell) = matches.get_one::<Shell>(SHELL) else { return Err(Exit::Usage) };
    let name = whole.get_name().to_owned();
    let mut script = Vec::new();
    generate(*shell, &mut whole, name, &mut script);
    print_block(&script)
}
