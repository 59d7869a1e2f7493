//! `tools list|show|schema|search`: describes the tools. People read these, so the default is text; schemas are always
//! JSON.

mod list;
mod schema;
mod search;
mod show;

use clap::{Arg, ArgMatches, Command};

use super::Exit;
use super::flags;
use super::streams::complain;
use toolwright_core::near::near;
use toolwright_core::tool::Definition;
use toolwright_executor::catalog::Catalog;

pub(super) const NAME: &str = "tools";

/// The id of the tools' names on the command line.
const NAMES: &str = "names";

pub(super) fn command() -> Command {
    let command = Command::new(NAME)
        .about("List, show and search the tools")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .disable_help_flag(true)
        .arg(flags::help());
    let each = [list::command(), show::command(), schema::command(), search::command()];
    command.subcommands(each.map(|it| it.disable_help_flag(true).arg(flags::help())))
}

pub(super) fn run(catalog: &Catalog, matches: &ArgMatches) -> Result<(), Exit> {
    match matches.subcommand() {
        Some((list::NAME, below)) => list::run(catalog, below),
        Some((show::NAME, below)) => show::run(catalog, below),
        Some((schema::NAME, below)) => schema::run(catalog, below),
        Some((search::NAME, below)) => search::run(catalog, below),
        _ => Err(complain(Exit::Usage, "no command was given")),
    }
}

fn names(help: &'static str) -> Arg {
    Arg::new(NAMES).value_name("NAME").num_args(1..).help(help)
}

/// Finds the tools with the given names. An unknown name ends the command.
fn find_named<'a>(catalog: &'a Catalog, matches: &ArgMatches) -> Result<Vec<&'a Definition>, Exit> {
    let names = matches.get_many::<String>(NAMES).into_iter().flatten();
    names.map(|name| catalog.get(name).ok_or_else(|| unknown(catalog, name))).collect()
}

fn unknown(catalog: &Catalog, name: &str) -> Exit {
    let close: Vec<String> = near(name, catalog.definitions().map(|it| it.name.as_str()))
        .into_iter()
        .map(|name| format!("`{name}`"))
        .collect();
    let hint = match close.as_slice() {
        [] => "`tools list` shows all".to_owned(),
        close => format!("did you mean {}?", close.join(" or ")),
    };
    complain(Exit::Usage, format!("no tool is called `{name}`; {hint}"))
}
