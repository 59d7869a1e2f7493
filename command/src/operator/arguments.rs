//! Reads new arguments for a call from the command line.

use clap::{Arg, ArgAction, ArgGroup, ArgMatches};
use toolwright::approval::ApprovalService;
use toolwright::journal::{CallRecord, StoredText};
use toolwright::unstable::arguments::canonical;

use super::{Stop, pointer, value};
use crate::shown::printable;
use crate::tell;

const ARGUMENTS: &str = "arguments";
const SET: &str = "set";

pub(crate) fn options() -> [Arg; 2] {
    [
        Arg::new(ARGUMENTS)
            .long(ARGUMENTS)
            .value_name("JSON|@FILE|-")
            .help("All arguments, as a JSON object, from a file or from standard input"),
        Arg::new(SET)
            .long(SET)
            .value_name("POINTER=JSON")
            .action(ArgAction::Append)
            .value_parser(pointer::value)
            .help("One argument, such as /copies=2 or /to='\"ada\"', the others as they are, repeatable"),
    ]
}

/// Requires exactly one of the options.
pub(crate) fn group() -> ArgGroup {
    ArgGroup::new("new").args([ARGUMENTS, SET]).required(true)
}

/// Returns the new arguments of a call in canonical form. Arguments with secrets cannot be edited: the error then
/// advises the operator to do `instead`.
pub(crate) fn from_options(
    matches: &ArgMatches,
    call: &CallRecord,
    instead: &str,
) -> Result<String, Stop> {
    let (StoredText::Plain(arguments), StoredText::Plain(_)) = (&call.arguments, &call.raw) else {
        return Err(Stop::usage(format!(
            "call {} has secrets, so that its arguments cannot be edited here: the application alone has the key to \
             them. {instead}",
            call.id
        )));
    };
    let text = match matches.get_one::<String>(ARGUMENTS) {
        Some(text) => value::read_given(text)?,
        None => {
            // The other arguments become part of what is signed, so they have to be those that people were shown.
            ApprovalService::check_shown(call)?;
            let mut set = matches.get_many::<(String, String)>(SET).into_iter().flatten();
            set.try_fold(arguments.clone(), |text, (pointer, value)| {
                pointer::set(&text, pointer, value).map_err(Stop::usage)
            })?
        }
    };
    let new = canonical(&text).map_err(Stop::usage)?;
    if !new.starts_with('{') {
        return Err(Stop::usage("the new arguments are no JSON object: give all of them as one"));
    }
    tell(
        "proposing",
        format!("these arguments, which the application judges\n  {}", printable::line(&new)),
    );
    Ok(new)
}
