//! `openapi call FILE TOOL INPUT`: calls one operation through an executor with a policy, as an application would.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use toolwright::approval::{Callback, Response, Terminal};
use toolwright::policy::{Policy, Rule};
use toolwright::{Answer, Call, Executor, ExecutorBuilder, Registry, error_kind};
use toolwright_openapi::{FixedCredentials, OpenApi};

use super::{document, load_api};
use crate::shown::printable;
use crate::{Exit, complain};

pub(super) const NAME: &str = "call";

const TOOL: &str = "tool";
const INPUT: &str = "input";
const SERVER: &str = "server";
const POLICY: &str = "policy";
const CREDENTIAL: &str = "credential";
const DRY_RUN: &str = "dry-run";

const AFTER_HELP: &str = "\
Standard output has the answer, or with --dry-run the request without credentials, which is not sent. The policy judges both. A call \
that is not safe is asked about at the terminal, unless the policy allows it.

Exit code: 0 the server answered with success, or the request was shown; 1 it did not, or the call was refused; 2 the command line is \
wrong.";

pub(super) fn command() -> Command {
    let tool = Arg::new(TOOL)
        .value_name("TOOL")
        .required(true)
        .help("The tool's name, as `check` shows it");
    let input =
        Arg::new(INPUT).value_name("INPUT").default_value("{}").help("Its input, a JSON object");
    let server = Arg::new(SERVER)
        .long(SERVER)
        .value_name("URL")
        .help("The server to use instead of the document's");
    let policy = Arg::new(POLICY)
        .long(POLICY)
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help("Rules in TOML for what may be called");
    let credential = Arg::new(CREDENTIAL)
        .long(CREDENTIAL)
        .value_name("SCHEME=VARIABLE")
        .action(ArgAction::Append)
        .help("The environment variable with the token of a security scheme, repeatable");
    let dry_run = Arg::new(DRY_RUN)
        .long(DRY_RUN)
        .action(ArgAction::SetTrue)
        .help("Show the request instead of sending it");
    Command::new(NAME)
        .about("Call one operation of a document")
        .args(document())
        .args([tool, input, server, policy, credential, dry_run])
        .after_help(AFTER_HELP)
}

pub(super) fn run(matches: &ArgMatches) -> Exit {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let called = runtime.map_err(|error| error.to_string()).and_then(|runtime| {
        let prepared = builder(matches)?;
        runtime.block_on(perform(prepared, matches))
    });
    let shown = match called {
        Ok(Ok(text)) => writeln!(std::io::stdout().lock(), "{}", printable::lines(&text)),
        Ok(Err(refused)) => return complain(Exit::Failed, printable::lines(&refused)),
        Err(error) => return complain(Exit::Failed, printable::lines(&error)),
    };
    match shown {
        Ok(()) => Exit::Success,
        Err(error) => complain(Exit::Failed, format!("standard output: {error}")),
    }
}

/// Returns the answer of the call, or on a dry run the request. The inner error is the call's own.
async fn perform(
    builder: ExecutorBuilder,
    matches: &ArgMatches,
) -> Result<Result<String, String>, String> {
    let text = |name| matches.get_one::<String>(name).map(String::as_str).unwrap_or_default();
    let call = Call::new(text(TOOL), text(INPUT));
    let built = |builder: ExecutorBuilder| builder.build().map_err(|error| error.to_string());
    if !matches.get_flag(DRY_RUN) {
        let executor = built(builder.policy(policy(matches)).ask(Terminal::new()))?;
        return Ok(answer_text(&executor.call(&call).await));
    }
    // On a dry run, this rule asks about every call that the policy does not deny. The approver stores the request to
    // print it, and rejects the call.
    let shown = Arc::new(Mutex::new(None));
    let preview = Arc::clone(&shown);
    let approver = Callback::new(move |request| {
        *preview.lock().unwrap_or_else(PoisonError::into_inner) = request.preview.clone();
        Response::Reject { reason: None }
    });
    let every = Rule::always_ask("it is shown and not sent").tool("*");
    let executor = built(builder.policy(policy(matches).rule(every)).ask(approver))?;
    let answer = executor.call(&call).await;
    let is_shown = answer.error().is_some_and(|error| error.kind() == error_kind::REJECTED);
    let preview = shown.lock().unwrap_or_else(PoisonError::into_inner).take();
    Ok(match preview.filter(|_| is_shown) {
        Some(request) => Ok(request),
        None => answer_text(&answer),
    })
}

fn answer_text(answer: &Answer) -> Result<String, String> {
    match answer.error() {
        None => Ok(answer.text().into_owned()),
        Some(error) => {
            let hint = error.next_action().map(|hint| format!(" ({hint})")).unwrap_or_default();
            Err(format!("{}: {}{hint}", error.kind(), error.message()))
        }
    }
}

fn policy(matches: &ArgMatches) -> toolwright::policy::PolicyBuilder {
    matches
        .get_one::<PathBuf>(POLICY)
        .into_iter()
        .fold(Policy::builder(), |policy, file| policy.load(file))
}

fn builder(matches: &ArgMatches) -> Result<ExecutorBuilder, String> {
    let mut api: OpenApi = load_api(matches)?;
    if let Some(server) = matches.get_one::<String>(SERVER) {
        api = api.server(server);
    }
    let mut credentials = FixedCredentials::new();
    for given in matches.get_many::<String>(CREDENTIAL).into_iter().flatten() {
        let (scheme, variable) = given
            .split_once('=')
            .ok_or_else(|| format!("found the credential `{given}`, expected `SCHEME=VARIABLE`"))?;
        let token = std::env::var(variable)
            .map_err(|_| format!("the variable `{variable}` for `{scheme}` has no text"))?;
        credentials = credentials.token(scheme, token);
    }
    Ok(Executor::builder(Registry::empty()).with(api.credentials(credentials)))
}
