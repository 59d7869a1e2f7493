//! `knowledge --offline` shows what the application does; `knowledge membot search "quarterly revenue"`, `knowledge task edit …`
//! and the others run one tool by hand in the current folder; `knowledge capabilities` writes down what the tools can do.

use std::error::Error;
use std::process::ExitCode;

use clap::{Arg, ArgAction, Command};
use knowledge::{Library, executor, registry, show};
use toolwright::cli;

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<ExitCode, Failure> {
    let offline = Arg::new("offline")
        .long("offline")
        .action(ArgAction::SetTrue)
        .help("Show what the application does, in a folder that is gone afterwards");
    let command = cli::command(&registry()?.catalog())?
        .name("knowledge")
        .about("Keeps notes, skills, schedules, tasks and prompts in the current folder")
        .subcommand_required(false)
        .arg_required_else_help(true)
        .arg(offline);
    // `capabilities` alone is a group of one tool, which is what is meant.
    let words = std::env::args_os().collect::<Vec<_>>();
    let words = match words.get(1).is_some_and(|word| word == "capabilities") && words.len() == 2 {
        true => words.into_iter().chain(["refresh".into()]).collect(),
        false => words,
    };
    let matches = Command::get_matches_from(command, words);
    if matches.get_flag("offline") {
        show().await?;
        return Ok(ExitCode::SUCCESS);
    }
    let executor = executor(Library::open(".")?)?;
    Ok(cli::run(&executor, &matches).await.into())
}
