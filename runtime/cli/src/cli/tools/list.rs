//! `tools list`: one line per tool.

use clap::{ArgMatches, Command};

use crate::cli::flags::{self, Form};
use crate::cli::names::Words;
use crate::cli::ordered::{object, text};
use crate::cli::streams::print;
use crate::cli::{Exit, help};
use toolwright_core::tool::Definition;
use toolwright_executor::catalog::Catalog;

pub(super) const NAME: &str = "list";

pub(super) fn command() -> Command {
    Command::new(NAME)
        .about("List the tools")
        .long_about(
            "Lists the tools: a table for people, or with `--output json` one object a line.",
        )
        .arg(flags::output("text"))
}

pub(super) fn run(catalog: &Catalog, matches: &ArgMatches) -> Result<(), Exit> {
    lines(&catalog.definitions().collect::<Vec<_>>(), flags::form(matches))
}

/// Prints tools as a table, or as one JSON object per line.
pub(super) fn lines(definitions: &[&Definition], form: Form) -> Result<(), Exit> {
    if form == Form::Json {
        return definitions.iter().try_for_each(|it| print(json(it), form));
    }
    let head = ["TOOL", "COMMAND", "DANGER", "WHAT IT DOES"].map(str::to_owned);
    let row = |it: &&Definition| {
        let danger = help::danger(it).to_owned();
        let summary = it.summary().sentence.to_owned();
        [it.name.clone(), Words::of(it).to_string(), danger, summary]
    };
    let rows: Vec<[String; 4]> = std::iter::once(head).chain(definitions.iter().map(row)).collect();
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let [tool, command, danger] = [0, 1, 2].map(width);
    rows.iter().try_for_each(|[one, two, three, four]| {
        let line = format!("{one:tool$}  {two:command$}  {three:danger$}  {four}");
        print(line.trim_end(), form)
    })
}

fn json(definition: &Definition) -> String {
    let tags: Vec<String> = definition.tags.iter().map(|tag| text(tag)).collect();
    object([
        ("name", text(&definition.name)),
        ("command", text(&Words::of(definition).to_string())),
        ("group", definition.group.as_deref().map_or_else(|| "null".to_owned(), text)),
        ("tags", format!("[{}]", tags.join(","))),
        ("danger", text(super::show::danger(definition))),
        ("effect", super::show::json(&definition.effect)),
        ("exposure", super::show::json(&definition.exposure)),
        ("summary", text(definition.summary().sentence)),
    ])
}
