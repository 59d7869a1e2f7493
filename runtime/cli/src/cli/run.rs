//! Runs the matched command: a tool, or a command that every command line has.

use clap::ArgMatches;

use super::Exit;
use super::advice;
use super::consent::Consent;
use super::dry_run;
use super::flags::{self, DRY_RUN};
use super::names::Words;
use super::policy;
use super::render;
use super::stop::Stop;
use super::streams::{complain, print, tell};
use super::tools;
use super::typed;
use toolwright_core::call::Call;
use toolwright_core::error::ErrorClass;
use toolwright_core::error::ToolError;
use toolwright_core::repairs::Repairs;
use toolwright_core::tool::Definition;
use toolwright_executor::catalog::Catalog;
use toolwright_executor::chain;
use toolwright_executor::executor::Executor;

pub(super) async fn run(
    executor: &Executor,
    matches: &ArgMatches,
    stop: &Stop,
    consent: Consent,
) -> Result<(), Exit> {
    let catalog = executor.catalog();
    match matches.subcommand() {
        Some((tools::NAME, below)) => tools::run(&catalog, below),
        Some((policy::NAME, below)) => policy::run(executor, below),
        Some((word, below)) => match find(&catalog, word, below) {
            Some((definition, below)) => call(executor, definition, below, stop, consent).await,
            None => Err(complain(Exit::Usage, format!("no tool is the command `{word}`"))),
        },
        None => Err(complain(Exit::Usage, "no command was given")),
    }
}

fn find<'a>(
    catalog: &'a Catalog,
    word: &str,
    below: &'a ArgMatches,
) -> Option<(&'a Definition, &'a ArgMatches)> {
    let (words, below) = match below.subcommand() {
        Some((tool, inside)) => {
            (Words { group: Some(word.to_owned()), tool: tool.to_owned() }, inside)
        }
        None => (Words { group: None, tool: word.to_owned() }, below),
    };
    let found = catalog.definitions().find(|it| Words::of(it) == words);
    found.map(|definition| (definition, below))
}

async fn call(
    executor: &Executor,
    definition: &Definition,
    matches: &ArgMatches,
    stop: &Stop,
    consent: Consent,
) -> Result<(), Exit> {
    let form = flags::form(matches);
    let input =
        typed::input(definition, matches).map_err(|problem| complain(Exit::Usage, problem))?;
    let call = Call::new(&definition.name, input);
    if matches.get_flag(DRY_RUN) {
        let facts =
            executor.examine(&call).map_err(|error| report_failure(&error, stop, consent))?;
        // If the tool's validation refuses the call, no person has to approve it.
        executor.validate(&call).await.map_err(|error| report_failure(&error, stop, consent))?;
        return print(dry_run::describe(definition, call.arguments(), &facts, form), form);
    }
    let call = call.cancelled_by(stop.token());
    let answer = executor.call(&call).await;
    for change in answer.repairs().map(Repairs::changes).unwrap_or_default() {
        tell("mended", change);
    }
    match answer.error() {
        Some(error) => Err(report_failure(error, stop, consent)),
        None => print(render::answer(&answer, form), form),
    }
}

/// Reports why a call failed. The message is the one for models; advice and cause are for people.
fn report_failure(error: &ToolError, stop: &Stop, consent: Consent) -> Exit {
    let exit = match stop.caught() {
        Some(signal) if error.classified() == ErrorClass::Cancelled => Exit::Signal(signal),
        _ => Exit::of(error),
    };
    let words = match consent.advice().filter(|_| exit == Exit::Approval) {
        // The cause is for developers of the application; the person who typed the command can act on the advice.
        Some(advice) => format!("{}\nhint: {advice}", message(error)),
        None => for_people(error),
    };
    complain(exit, words)
}

/// Describes an error for people.
pub(super) fn for_people(error: &ToolError) -> String {
    let hint = error.next_action().and_then(advice::for_a_person);
    let hint = hint.map(|hint| format!("\nhint: {hint}"));
    let cause = error.source().map(|cause| format!("\ncaused by: {}", chain(cause)));
    let more = [hint, cause].map(Option::unwrap_or_default).concat();
    format!("{}{more}", message(error))
}

fn message(error: &ToolError) -> String {
    format!("{}: {}", error.kind(), advice::message(error.message()))
}
