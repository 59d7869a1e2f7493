//! `policy explain TOOL [ARGUMENTS]`: the decision on one call, and the effects of tool, rules and mode.

use clap::{Arg, ArgMatches, Command};
use serde::Serialize;

use crate::cli::flags::{self, Form};
use crate::cli::run::for_people;
use crate::cli::streams::{complain, print};
use crate::cli::{Exit, typed};
use toolwright_core::call::Call;
use toolwright_executor::executor::Executor;
use toolwright_policy::policy::Explanation;

pub(super) const NAME: &str = "explain";

const TOOL: &str = "tool";
const ARGUMENTS: &str = "arguments";
const USER: &str = "user";

/// An explanation for programs.
#[derive(Serialize)]
pub(super) struct ExplanationLine<'a> {
    #[serde(flatten)]
    pub(super) explanation: &'a Explanation,
    pub(super) because: Vec<&'a str>,
}

pub(super) fn command() -> Command {
    let tool = Arg::new(TOOL).value_name("TOOL").required(true);
    let arguments = Arg::new(ARGUMENTS).value_name("ARGUMENTS").default_value("{}");
    let user = Arg::new(USER).long("user").value_name("NAME");
    Command::new(NAME)
        .about("Tell what becomes of a call, and why")
        .long_about(
            "Tells what becomes of a call, which rule decided, and what the others would have said. The tool is not run; \
             its arguments are read, and what it says of its danger and its files is worked out, as for a real call. \
             Grants and decisions of people are not looked at.",
        )
        .arg(tool.help("The tool, as models call it"))
        .arg(arguments.help("Its input as JSON; `-` reads standard input, `@FILE` a file"))
        .arg(user.help("On whose behalf it is called"))
        .arg(super::flag())
        .arg(flags::output("text"))
}

pub(super) fn run(executor: &Executor, matches: &ArgMatches) -> Result<(), Exit> {
    let policy = super::policy(executor, matches)?;
    let given = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let arguments = typed::whole(given(ARGUMENTS), "ARGUMENTS")
        .map_err(|problem| complain(Exit::Usage, problem))?;
    let executor = match matches.get_one::<String>(USER) {
        Some(user) => &executor.on_behalf_of(user),
        None => executor,
    };
    let call = Call::new(given(TOOL), arguments);
    let explanation = executor
        .explain_by(&policy, &call)
        .map_err(|error| complain(Exit::of(&error), for_people(&error)))?;
    match flags::form(matches) {
        Form::Json => print(json(&explanation), Form::Json),
        Form::Text => print(&explanation, Form::Text),
    }
}

fn json(explanation: &Explanation) -> String {
    let line = ExplanationLine { explanation, because: explanation.because() };
    serde_json::to_string(&line).expect("texts and lists of texts always serialise")
}
