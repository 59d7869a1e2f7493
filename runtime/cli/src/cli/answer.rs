//! `answer FILE…`: the tool calls of captured provider messages, answered as the provider wants it.

use clap::{Arg, ArgMatches, Command, value_parser};
use std::path::{Path, PathBuf};

use super::Exit;
use super::flags;
use super::stop::Stop;
use super::streams::{complain, print};
use toolwright_core::call::Call;
use toolwright_executor::executor::Executor;
use toolwright_wire::provider::Provider;

pub(super) const NAME: &str = "answer";

const FILES: &str = "files";

pub(super) fn command() -> Command {
    let files = Arg::new(FILES)
        .value_name("FILE")
        .required(true)
        .num_args(1..)
        .value_parser(value_parser!(PathBuf))
        .help("Messages as the provider sent them: Anthropic, OpenAI chat or Responses, Gemini");
    Command::new(NAME)
        .about("Answer the tool calls of captured provider messages")
        .long_about(
            "Runs the tool calls of captured provider messages, one after the other, and prints for each \
             message, on one line, the message that carries the results back to the provider.",
        )
        .arg(files)
        .disable_help_flag(true)
        .arg(flags::help())
}

pub(super) async fn run(
    executor: &Executor,
    matches: &ArgMatches,
    stop: &Stop,
) -> Result<(), Exit> {
    let mut ended = Ok(());
    for file in matches.get_many::<PathBuf>(FILES).into_iter().flatten() {
        match answer(executor, file, stop).await {
            Ok(message) => print(message)?,
            Err(problem) => {
                ended = Err(complain(Exit::Failed, format!("{}: {problem}", file.display())));
            }
        }
        if let Some(signal) = stop.caught() {
            return Err(Exit::Signal(signal));
        }
    }
    ended
}

async fn answer(executor: &Executor, file: &Path, stop: &Stop) -> Result<String, String> {
    let message = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let provider = Provider::detect(&message).map_err(|error| error.to_string())?;
    // Models may know the tools by other names.
    let listing =
        executor.registry().listing(provider.into()).map_err(|error| error.to_string())?;
    let calls = listing.tool_calls(&message).map_err(|error| error.to_string())?;
    let mut answered = Vec::with_capacity(calls.len());
    for call in calls {
        let answer = executor.call(&Call::from(&call).cancelled_by(stop.token())).await;
        answered.push((call, answer));
    }
    let results = listing.tool_results(&answered).map_err(|error| error.to_string())?;
    Ok(results.to_string())
}
