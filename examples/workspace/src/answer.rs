//! `workspace answer FILE…` runs the tool calls of captured provider messages, one after the other. For each message it
//! prints, on one line, the message that carries the results back to the provider.

use std::error::Error;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use toolwright::provider::Provider;
use toolwright::{Call, Executor};

pub const NAME: &str = "answer";

const USAGE: &str = "\
Answers the tool calls of captured messages: Anthropic, OpenAI chat or Responses, Gemini

Usage: workspace answer FILE...";

/// Answers the messages. The exit code is 0 if every message was answered, 1 if some could not be read or answered, and
/// 2 if the command line names no file.
#[tokio::main(flavor = "current_thread")]
pub async fn run(executor: &Executor, files: &[PathBuf]) -> ExitCode {
    match files {
        [] => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
        [only] if only.as_os_str() == "--help" => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let mut ended = ExitCode::SUCCESS;
    for file in files {
        let answered = answer(executor, file).await;
        let printed = answered.and_then(|line| Ok(writeln!(io::stdout(), "{line}")?));
        if let Err(error) = printed {
            eprintln!("error: {}: {error}", file.display());
            ended = ExitCode::FAILURE;
        }
    }
    ended
}

async fn answer(executor: &Executor, file: &Path) -> Result<String, Box<dyn Error>> {
    let message = fs::read_to_string(file)?;
    let provider = Provider::detect(&message)?;
    // The provider may require other names for some tools.
    let listing = executor.registry().listing(provider.into())?;
    let mut answered = Vec::new();
    for call in listing.tool_calls(&message)? {
        let answer = executor.call(&Call::from(&call)).await;
        answered.push((call, answer));
    }
    Ok(listing.tool_results(&answered)?.to_string())
}
