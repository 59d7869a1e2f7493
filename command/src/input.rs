//! `input [FILE]`: reads calls as models sent them, one per line, and shows how their input is repaired or refused.
//!
//! - Each line that is not blank gets one answer. The command goes on after a line that fails.
//! - Input stays text, so that numbers keep all of their digits.

mod call;
mod outcome;
mod words;

use clap::{Arg, ArgAction, ArgMatches, Command};
use toolwright::Repair;
use toolwright::printable;
use toolwright::unstable::foreign::TypeNames;
use toolwright::unstable::repair::TruncatedInput;

use crate::{Exit, line, stream};

pub(crate) const NAME: &str = "input";

const LEVEL: &str = "level";
const SAFE: &str = "safe";
const OUTPUT: &str = "output";

const AFTER_HELP: &str = "\
Each line of FILE is {\"tool\": {\"name\", \"input_schema\"}, \"arguments\": \"what the model sent\"}. The tool may
have any of the forms that `toolwright schema` takes; `arguments` may be an object as well.

Each line gives, on standard output:
  --output json   {\"line\", \"name\", \"outcome\", \"input\", \"report\", \"problems\", \"message\"} on one line.
                  The outcome is `accepted`, `repaired` or `refused`; `input` is what the tool would get,
                  `report` each change with its pointer, rule, from and to, `problems` each problem with
                  its pointer, rule, found, expected and near, `message` what the model would read.
                  `example` is the input that was probably meant, where there is one.
  --output text   the same in words, and a count at the end.

Exit code: 0 every input is taken; 1 one is refused, a line is no call, or a file cannot be read or
written; 2 the command line is wrong.";

/// The options by which input is repaired and checked.
struct InputOptions {
    level: Repair,
    brackets: TruncatedInput,
    names: TypeNames,
}

pub(crate) fn command() -> Command {
    let level = Arg::new(LEVEL)
        .long("level")
        .value_name("LEVEL")
        .default_value("standard")
        .value_parser(["off", "standard", "lenient"])
        .help("How far input is repaired");
    let safe = Arg::new(SAFE)
        .long("safe")
        .action(ArgAction::SetTrue)
        .help("The tools are safe, so missing brackets at the end may be added");
    let output = Arg::new(OUTPUT)
        .long("output")
        .value_name("KIND")
        .default_value("json")
        .value_parser(["json", "text"])
        .help("What to write for each call");
    let file = stream::file("Calls, one a line; `-` is standard input");
    Command::new(NAME)
        .about("Show whether the input of calls is accepted, repaired or refused")
        .args([level, safe, line::types(), output, file])
        .after_help(AFTER_HELP)
}

pub(crate) fn run(matches: &ArgMatches) -> Exit {
    let given = |argument| matches.get_one::<String>(argument).map(String::as_str);
    let wanted = InputOptions {
        level: match given(LEVEL) {
            Some("off") => Repair::Off,
            Some("lenient") => Repair::Lenient,
            _ => Repair::Standard,
        },
        brackets: if matches.get_flag(SAFE) {
            TruncatedInput::Completed
        } else {
            TruncatedInput::Refused
        },
        names: line::names(matches),
    };
    if given(OUTPUT) == Some("text") {
        let mut counts = words::Counts::default();
        let exit = stream::run(matches, |number, line, output| {
            let outcome = outcome::of(number, line, &wanted);
            counts.add(&outcome);
            words::write(&outcome, output)?;
            Ok(outcome.is_taken())
        });
        return words::end(&counts, exit);
    }
    stream::run(matches, |number, line, output| {
        let outcome = outcome::of(number, line, &wanted);
        writeln!(output, "{}", printable::json(&serde_json::to_string(&outcome)?))?;
        Ok(outcome.is_taken())
    })
}
