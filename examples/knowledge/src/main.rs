//! `knowledge --offline` demonstrates the application. `knowledge membot search "quarterly revenue"`, `knowledge task
//! edit …` and other commands run one tool in the present folder. `knowledge capabilities` writes down what the tools
//! can do. `knowledge chat` talks with an agent that has them. `knowledge work` makes the tasks of schedules and
//! works on tasks, in any number of processes. `knowledge serve` serves the tools over MCP. `KNOWLEDGE_MODEL` names
//! the model, such as `anthropic:claude-sonnet-4-6`. `KNOWLEDGE_EMBEDDING_MODEL` names an embedding model with its
//! dimensions, such as `text-embedding-3-small:1536`, by which notes are searched as well; without it, they are searched
//! by words alone. `KNOWLEDGE_EMBEDDING_ADDRESS` is the address of its API, such as `http://localhost:11434/v1` of
//! Ollama; without it, OpenAI's with the key in `OPENAI_API_KEY`.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use jiff::Timestamp;
use knowledge::{Library, Worker, agent, builder, embedder, executor, registry, show, talk};
use toolwright::approval::Terminal;
use toolwright::cli;
use toolwright::policy::Policy;
use toolwright_agent::{IntoModel as _, Model};

/// How long a worker without a task waits before it searches again.
const IDLE: Duration = Duration::from_secs(1);

type Failure = Box<dyn Error + Send + Sync>;

/// The variable that names the model.
const MODEL: &str = "KNOWLEDGE_MODEL";

/// The variable that names the embedding model.
const EMBEDDING_MODEL: &str = "KNOWLEDGE_EMBEDDING_MODEL";

/// The variable with the address of the embedding model.
const EMBEDDING_ADDRESS: &str = "KNOWLEDGE_EMBEDDING_ADDRESS";

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
    let once = Arg::new("once")
        .long("once")
        .action(ArgAction::SetTrue)
        .help("End when there is no task that can be worked on");
    let policy = Arg::new("policy")
        .long("policy")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help(
            "Rules for what the agent may do; without them, only what is safe. Not in this folder",
        );
    let command = cli::command(&registry()?.catalog())?
        .name("knowledge")
        .about("Keeps notes, skills, schedules, tasks and prompts in the current folder")
        .subcommand_required(false)
        .arg_required_else_help(true)
        .subcommand(Command::new("chat").about("Talk with an agent that has the tools"))
        .subcommand(
            Command::new("work")
                .about("Make the tasks of schedules, and work on one task after the other")
                .arg(once)
                .arg(policy),
        )
        .subcommand(
            Command::new("serve")
                .about("Offer the tools to a client of MCP, over standard input and output"),
        )
        .arg(offline);
    // The group `capabilities` has only one tool, so its name alone runs that tool.
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
    let (library, model) = (library()?, model()?);
    match matches.subcommand() {
        Some(("chat", _)) => chat(library, expected(model)?).await?,
        Some(("work", options)) => {
            work(library, expected(model)?, options).await?;
        }
        Some(("serve", _)) => {
            let executor = builder(library, model)?.build()?;
            toolwright_mcp::serve(executor).await?;
        }
        _ => {
            let executor = executor(library, model)?;
            return Ok(cli::run(&executor, &matches).await.into());
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn expected(model: Option<Arc<dyn Model>>) -> Result<Arc<dyn Model>, Failure> {
    let why = || {
        format!(
            "no model is configured, expected its name in {MODEL}, such as `anthropic:claude-sonnet-4-6`"
        )
    };
    Ok(model.ok_or_else(why)?)
}

/// Opens the current folder, with the embedding model that the environment names.
fn library() -> Result<Library, Failure> {
    let library = Library::open(".")?;
    match variable(EMBEDDING_MODEL) {
        None => Ok(library),
        Some(name) => {
            let address = variable(EMBEDDING_ADDRESS);
            Ok(library.with_embedder(embedder(&name, address.as_deref())?))
        }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the model that the environment names; `None` if it names none.
fn model() -> Result<Option<Arc<dyn Model>>, Failure> {
    match variable(MODEL) {
        None => Ok(None),
        Some(name) => Ok(Some(Arc::from(name.into_model()?))),
    }
}

async fn chat(library: Library, model: Arc<dyn Model>) -> Result<(), Failure> {
    let executor = builder(library, Some(Arc::clone(&model)))?.ask(Terminal::new()).build()?;
    let agent = agent(&executor, model)?;
    // Lock the terminal for one line at a time, since questions to the person are answered there too.
    let line = || {
        let mut line = String::new();
        Ok((std::io::stdin().read_line(&mut line)? > 0).then_some(line))
    };
    talk(&agent, &executor, line, &mut std::io::stdout()).await
}

/// Runs a worker. The worker asks no person: the executor refuses every call that needs approval, unless a policy
/// allows it.
async fn work(
    library: Library,
    model: Arc<dyn Model>,
    options: &ArgMatches,
) -> Result<(), Failure> {
    let executor = builder(library.clone(), Some(Arc::clone(&model)))?;
    let executor = match options.get_one::<PathBuf>("policy") {
        Some(file) => executor.policy(Policy::builder().load(file)),
        None => executor,
    };
    let once = options.get_flag("once");
    let worker = Worker::new(library, executor, model, Timestamp::now())?;
    loop {
        let has_worked = worker.step(Timestamp::now(), &mut std::io::stdout()).await?;
        match (has_worked, once) {
            (true, _) => {}
            (false, true) => return Ok(()),
            (false, false) => tokio::time::sleep(IDLE).await,
        }
    }
}
