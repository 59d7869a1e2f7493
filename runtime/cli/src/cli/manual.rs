//! `help COMMAND…`: prints the full help of a command. clap's own help command would contain a second copy of all
//! commands.

use clap::{Arg, ArgMatches, Command};

use super::Exit;
use super::flags;
use super::streams::{complain, print_message};

pub(super) const NAME: &str = "help";

const WORDS: &str = "words";

pub(super) fn command() -> Command {
    let words = Arg::new(WORDS)
        .value_name("COMMAND")
        .num_args(0..)
        .help("The command, word by word; the program when absent");
    Command::new(NAME)
        .about("Print the help of a command")
        .arg(words)
        .disable_help_flag(true)
        .arg(flags::help())
}

/// Prints the help page of a command. `whole` is the command line with all its commands; it prints the page as it does
/// for `--help`.
pub(super) fn run(mut whole: Command, matches: &ArgMatches) -> Result<(), Exit> {
    let words = matches.get_many::<String>(WORDS).into_iter().flatten().map(String::as_str);
    let program = whole.get_name().to_owned();
    let asked = std::iter::once(program.as_str()).chain(words).chain(["--help"]);
    match whole.try_get_matches_from_mut(asked) {
        Ok(_) => Err(complain(Exit::Usage, "`help` takes the words of a command and nothing else")),
        Err(message) => print_message(&message),
    }
}
