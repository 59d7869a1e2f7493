//! `schema --dialect D [FILE]`: converts tools, one per line, to the formats that providers accept.
//!
//! - Each line that is not blank gives one line for each dialect, in the order of the command line.
//! - The command goes on after a line that is refused.

mod outcome;

use std::io::{self, Write};

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};
use toolwright::dialect::Dialect;
use toolwright::unstable::foreign::TypeNames;

use self::outcome::Outcome;
use crate::shown::printable;
use crate::{Exit, line, stream, tell};

pub(crate) const NAME: &str = "schema";

const DIALECTS: &str = "dialect";
const OUTPUT: &str = "output";

const AFTER_HELP: &str = "\
Each line of FILE is {\"name\", \"description\", \"input_schema\"}. `inputSchema`, `parameters` and
`parametersJsonSchema` do as well, and so does {\"type\": \"function\", \"function\": {…}}.

Each line gives one line on standard output for each dialect:
  --output form     the provider's form, to be put into its list of tools. A tool that is refused:
                    {\"line\", \"name\", \"dialect\", \"refused\": [findings]}; no form has the key `refused`.
                    Notes go to standard error.
  --output report   {\"line\", \"name\", \"dialect\", \"form\": {…}, \"notes\": [findings]}
                    or {\"line\", \"name\", \"dialect\", \"refused\": [findings], \"notes\": [findings]}.
A finding has \"severity\", \"rule\", \"pointer\", \"message\" and \"fix\".

Exit code: 0 every tool can be shown; 1 one is refused, a line is no tool, or a file cannot be
read or written; 2 the command line is wrong.";

pub(crate) fn command() -> Command {
    let dialects = Arg::new(DIALECTS)
        .long("dialect")
        .short('d')
        .value_name("DIALECT")
        .required(true)
        .action(ArgAction::Append)
        .value_delimiter(',')
        .value_parser(PossibleValuesParser::new(
            Dialect::ALL.map(Dialect::name).into_iter().chain(["all"]),
        ))
        .help("The form to show, repeatable");
    let output = Arg::new(OUTPUT)
        .long("output")
        .value_name("KIND")
        .default_value("form")
        .value_parser(["form", "report"])
        .help("What to write for each tool");
    Command::new(NAME)
        .about("Show tools in the forms that providers take, or say why they are refused")
        .args([
            dialects,
            line::types(),
            output,
            stream::file("Tools, one a line; `-` is standard input"),
        ])
        .after_help(AFTER_HELP)
}

struct SchemaOptions {
    dialects: Vec<Dialect>,
    names: TypeNames,
    report: bool,
}

pub(crate) fn run(matches: &ArgMatches) -> Exit {
    let wanted = SchemaOptions {
        dialects: dialects(matches),
        names: line::names(matches),
        report: matches.get_one::<String>(OUTPUT).is_some_and(|given| given == "report"),
    };
    stream::run(matches, |number, line, output| {
        let mut fine = true;
        for outcome in outcome::of(number, line, wanted.names, &wanted.dialects) {
            fine &= !outcome.is_refused();
            write(&outcome, output, wanted.report)?;
        }
        Ok(fine)
    })
}

/// Returns the dialects that the command line names, without repetitions.
fn dialects(matches: &ArgMatches) -> Vec<Dialect> {
    let mut dialects = Vec::new();
    for name in matches.get_many::<String>(DIALECTS).into_iter().flatten() {
        // clap has already refused unknown names.
        let named = Dialect::ALL.into_iter().filter(|it| name == "all" || it.name() == name);
        named.for_each(|it| {
            if !dialects.contains(&it) {
                dialects.push(it);
            }
        });
    }
    dialects
}

fn write(outcome: &Outcome, output: &mut dyn Write, report: bool) -> io::Result<()> {
    if report {
        return writeln!(output, "{}", outcome.report());
    }
    for note in &outcome.notes {
        let (line, name) = (outcome.line, outcome.name.as_deref().unwrap_or("?"));
        let words = format!("line {line}: {}: tool `{name}` at {note}", outcome.dialect);
        tell("note", printable::line(&words));
    }
    writeln!(output, "{}", outcome.form())
}
