//! `openapi check FILE`: lists what each operation of a document becomes, one per line. `openapi call FILE TOOL` calls
//! one.

mod call;

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use toolwright::Exposure;
use toolwright_openapi::{OpenApi, Outcome, PlannedOperation, Routes};

use crate::shown::printable;
use crate::{Exit, complain};

pub(crate) const NAME: &str = "openapi";

const CHECK: &str = "check";
const FILE: &str = "file";
const ROUTES: &str = "routes";
const DOCUMENT: &str = "document";

const AFTER_HELP: &str = "\
Each operation gives one line on standard output, in the order of paths and methods:
  tool NAME (EFFECT, DANGER[, deferred | hidden]): OPERATION
  excluded: OPERATION
  refused: OPERATION: PLACE: REASON
The last line counts them. Nothing is sent: servers and credentials are not looked at.

Exit code: 0 every operation is a tool, or excluded by a rule; 1 one is refused, or a file cannot be read or used; 2 \
the command line is wrong.";

pub(crate) fn command() -> Command {
    let check = Command::new(CHECK)
        .about("Show which tool each operation of a document becomes, or why it becomes none")
        .args(document())
        .after_help(AFTER_HELP);
    Command::new(NAME)
        .about("Show the tools that an OpenAPI document makes")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(check)
        .subcommand(call::command())
}

/// Declares the arguments that name a document and the rules for it.
fn document() -> [Arg; 3] {
    let file = Arg::new(FILE)
        .value_name("FILE")
        .required(true)
        .value_parser(value_parser!(PathBuf))
        .help("An OpenAPI document of version 3, in JSON or YAML");
    let routes = Arg::new(ROUTES)
        .long(ROUTES)
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help("Rules in TOML: which operations become tools, and how");
    let document = Arg::new(DOCUMENT)
        .long(DOCUMENT)
        .value_name("URI=FILE")
        .action(ArgAction::Append)
        .value_parser(document_of_uri)
        .help(
            "Another document, by the URI that references to it have before `#`; may be repeated",
        );
    [file, routes, document]
}

/// Reads `URI=FILE`; a URI may have a `=`, the name of the file may not.
fn document_of_uri(text: &str) -> Result<(String, PathBuf), String> {
    match text.rsplit_once('=') {
        Some((uri, file)) if !uri.is_empty() && !file.is_empty() => Ok((uri.into(), file.into())),
        _ => Err("expected URI=FILE, for instance common.yaml=api/common.yaml".to_owned()),
    }
}

pub(crate) fn run(matches: &ArgMatches) -> Exit {
    match matches.subcommand() {
        Some((CHECK, matches)) => check(matches),
        Some((call::NAME, matches)) => call::run(matches),
        _ => complain(Exit::Usage, "no such command"),
    }
}

fn check(matches: &ArgMatches) -> Exit {
    let planned = match load_plan(matches) {
        Ok(planned) => planned,
        Err(error) => return complain(Exit::Failed, printable::lines(&error)),
    };
    let refused = planned.iter().any(|it| matches!(it.outcome, Outcome::Refused(_)));
    match write(&planned) {
        Err(error) => complain(Exit::Failed, format!("standard output: {error}")),
        Ok(()) if refused => Exit::Failed,
        Ok(()) => Exit::Success,
    }
}

fn load_plan(matches: &ArgMatches) -> Result<Vec<PlannedOperation>, String> {
    load_api(matches)?.plan().map_err(|error| error.to_string())
}

/// Reads the document that the command line names, with its rules.
fn load_api(matches: &ArgMatches) -> Result<OpenApi, String> {
    let file =
        matches.get_one::<PathBuf>(FILE).map(PathBuf::as_path).unwrap_or_else(|| "".as_ref());
    let mut api = OpenApi::read(file).map_err(|error| error.to_string())?;
    for (uri, file) in matches.get_many::<(String, PathBuf)>(DOCUMENT).into_iter().flatten() {
        let text = fs::read_to_string(file)
            .map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
        let added = api.document(uri, text);
        api = added.map_err(|error| format!("{}: {error}", file.display()))?;
    }
    if let Some(routes) = matches.get_one::<PathBuf>(ROUTES) {
        api = api.routes(Routes::read(routes).map_err(|error| error.to_string())?);
    }
    Ok(api)
}

fn write(planned: &[PlannedOperation]) -> io::Result<()> {
    let mut output = io::BufWriter::new(io::stdout().lock());
    let (mut tools, mut excluded, mut refused) = (0_usize, 0_usize, 0_usize);
    for PlannedOperation { operation, outcome, .. } in planned {
        let counted = match outcome {
            Outcome::Tool { .. } => &mut tools,
            Outcome::Excluded => &mut excluded,
            _ => &mut refused,
        };
        *counted += 1;
        writeln!(output, "{}", printable::line(&line(operation, outcome)))?;
    }
    let all = planned.len();
    writeln!(output, "{all} operations: {tools} tools, {excluded} excluded, {refused} refused")?;
    output.flush()
}

fn line(operation: &str, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Tool { name, effect, danger, exposure, .. } => {
            let effect = serde_json::to_value(effect).unwrap_or_default();
            let effect = effect.as_str().unwrap_or_default();
            let shown = match exposure {
                Exposure::Direct => "",
                Exposure::Deferred => ", deferred",
                Exposure::Hidden => ", hidden",
            };
            format!("tool {name} ({effect}, {}{shown}): {operation}", danger.as_str())
        }
        Outcome::Excluded => format!("excluded: {operation}"),
        Outcome::Refused(refusal) => format!("refused: {operation}: {refusal}"),
        _ => operation.to_owned(),
    }
}
