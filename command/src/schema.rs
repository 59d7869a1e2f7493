//! `schema --dialect D [FILE]`: tools, one a line, in the forms that providers take.
//!
//! - Each line that is not blank gives one line for each dialect, in the order of the command line,
//!   whatever becomes of it.
//! - A line that is refused stops nothing.

mod outcome;

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use toolwright::arriving::TypeNames;
use toolwright::dialect::Dialect;

use self::outcome::Outcome;
use crate::lines::{LONGEST, Line, Lines};
use crate::{Exit, complain, tell};

pub(crate) const NAME: &str = "schema";

const DIALECTS: &str = "dialect";
const TYPES: &str = "types";
const OUTPUT: &str = "output";
const FILE: &str = "file";

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
    let types = Arg::new(TYPES)
        .long("types")
        .value_name("NAMES")
        .default_value("json-schema")
        .value_parser(["json-schema", "foreign"])
        .help(
            "Whose names of types are understood; `foreign` takes dict, float, HashMap and so on",
        );
    let output = Arg::new(OUTPUT)
        .long("output")
        .value_name("KIND")
        .default_value("form")
        .value_parser(["form", "report"])
        .help("What to write for each tool");
    let file = Arg::new(FILE)
        .value_name("FILE")
        .default_value("-")
        .value_parser(value_parser!(PathBuf))
        .help("Tools, one a line; `-` is standard input");
    Command::new(NAME)
        .about("Show tools in the forms that providers take, or say why they are refused")
        .args([dialects, types, output, file])
        .after_help(AFTER_HELP)
}

struct Wanted {
    dialects: Vec<Dialect>,
    names: TypeNames,
    report: bool,
}

/// Why nothing more could be written or read.
enum Stopped {
    /// Who read the output has enough, as `head` does.
    Closed,
    Read(io::Error),
    Write(io::Error),
}

pub(crate) fn run(matches: &ArgMatches) -> Exit {
    let is = |argument: &str, value: &str| {
        matches.get_one::<String>(argument).is_some_and(|given| given == value)
    };
    let wanted = Wanted {
        dialects: dialects(matches),
        names: if is(TYPES, "foreign") { TypeNames::Foreign } else { TypeNames::JsonSchema },
        report: is(OUTPUT, "report"),
    };
    let file = matches.get_one::<PathBuf>(FILE).map_or(Path::new("-"), PathBuf::as_path);
    let mut output = BufWriter::new(io::stdout().lock());
    let mut exit = Exit::Success;
    let shown = if file == Path::new("-") {
        show(io::stdin().lock(), &mut output, &wanted, &mut exit)
    } else {
        File::open(file)
            .map_err(Stopped::Read)
            .and_then(|file| show(file, &mut output, &wanted, &mut exit))
    };
    match shown.and_then(|()| output.flush().map_err(broken)) {
        Ok(()) | Err(Stopped::Closed) => exit,
        Err(Stopped::Read(error)) => {
            // What was found out before is worth having.
            let _ = output.flush();
            complain(Exit::Failed, format!("{} cannot be read: {error}", file.display()))
        }
        Err(Stopped::Write(error)) => {
            complain(Exit::Failed, format!("the result could not be written: {error}"))
        }
    }
}

/// The dialects that were asked for, each once.
fn dialects(matches: &ArgMatches) -> Vec<Dialect> {
    let mut dialects = Vec::new();
    for name in matches.get_many::<String>(DIALECTS).into_iter().flatten() {
        // clap has let only known names through.
        let named = Dialect::ALL.into_iter().filter(|it| name == "all" || it.name() == name);
        named.for_each(|it| {
            if !dialects.contains(&it) {
                dialects.push(it);
            }
        });
    }
    dialects
}

fn show(
    input: impl Read,
    output: &mut impl Write,
    wanted: &Wanted,
    exit: &mut Exit,
) -> Result<(), Stopped> {
    let mut lines = Lines::new(input, LONGEST);
    while let Some((number, line)) = lines.next().map_err(Stopped::Read)? {
        if matches!(line, Line::Text(text) if text.trim_ascii().is_empty()) {
            continue;
        }
        for outcome in outcome::of(number, &line, wanted.names, &wanted.dialects) {
            if outcome.is_refused() {
                *exit = Exit::Failed;
            }
            write(&outcome, output, wanted.report).map_err(broken)?;
        }
        // Whoever writes line by line reads line by line; who wrote many at once can wait.
        if !lines.has_more() {
            output.flush().map_err(broken)?;
        }
    }
    Ok(())
}

fn write(outcome: &Outcome, output: &mut impl Write, report: bool) -> io::Result<()> {
    if report {
        return writeln!(output, "{}", outcome.report());
    }
    for note in &outcome.notes {
        let (line, name) = (outcome.line, outcome.name.as_deref().unwrap_or("?"));
        tell("note", format!("line {line}: {}: tool `{name}` at {note}", outcome.dialect));
    }
    writeln!(output, "{}", outcome.form())
}

fn broken(error: io::Error) -> Stopped {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Stopped::Closed,
        _ => Stopped::Write(error),
    }
}
