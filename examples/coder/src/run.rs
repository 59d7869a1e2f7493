//! One run: the folder, the model, the agent, and how the run ends.

use std::io::{self, Write as _};
use std::path::Path;
use std::process;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use toolwright::Executor;
use toolwright_agent::testing::Recorder;
use toolwright_agent::{Agent, AgentBuilder, RunEnd, Stopped, TotalUsage};
use toolwright_mcp::McpConfig;

use crate::agents;
use crate::application::{self, Application, Parts};
use crate::arguments::Arguments;
use crate::counted::Counted;
use crate::durable;
use crate::end::{End, FallbackEnd, Problem};
use crate::model::{self, Models};
use crate::offline::{self, Copied, With};
use crate::report::Report;
use crate::said::Said;
use crate::signals::Signals;
use crate::sizes::Sizes;
use crate::state;
use crate::transcript::Transcript;

pub const SYSTEM: &str = "You work on the sources of a program in one folder, with tools. Look before you change anything, \
change as little as the task needs, and check what you changed by running the tests. Say in one sentence what you do next \
before you call a tool. When the task is done, or cannot be done, call `complete_task`.";

/// The system prompt for a run that ends with a report.
const REPORTING: &str = "You work on the sources of a program in one folder, with tools. Look before you change anything, \
change as little as the task needs, and check what you changed by running the tests. Say in one sentence what you do next \
before you call a tool. When the task is done, or cannot be done, give the report.";

pub async fn run(arguments: &Arguments) -> Result<u8, Problem> {
    let transcript = Transcript::of(arguments.json);
    if let Some(durable) = &arguments.durable {
        return durable::start(arguments, durable, transcript).await;
    }
    let servers = arguments.mcp.as_deref().map(servers).transpose()?;
    let copied = arguments.offline.then(Copied::make).transpose()?;
    let folder = copied.as_ref().map_or_else(|| arguments.folder.clone(), Copied::path);
    if let Some(copied) = &copied {
        transcript.note("folder", &format!("{} ({})", folder.display(), copied.words()));
    }
    let counted = Counted::default();
    let log = match &copied {
        Some(copied) if !arguments.keep => copied.log(),
        _ => state::log_of(&folder)?,
    };
    let parts = |servers| Parts {
        folder: &folder,
        sandbox: arguments.sandbox,
        servers,
        log: &log,
        journal: None,
        counted: &counted,
        shell: arguments.shell,
        trusted: &[],
    };
    let Application { executor, servers, without_wall } = application::executor(parts(servers))?;
    if let Some(words) = without_wall {
        transcript.note("sandbox", &words);
    }
    let mut is_beside_a_dead_server = false;
    if let Some(servers) = &servers {
        // Register them before the model is asked: a tool that is found only by its name has no rules of the policy.
        let unusable = servers.register_all().await;
        let unusable =
            unusable.map_err(|error| Problem::failed("the MCP servers cannot be used", error))?;
        let is_every = unusable.servers.len() == servers.names().count();
        is_beside_a_dead_server = !unusable.servers.is_empty();
        for failed in unusable.servers {
            if is_every {
                return Err(Problem::failed("no MCP server can be used", failed.error));
            }
            transcript.note("left out", &failed.error.to_string());
        }
        for tool in unusable.tools {
            transcript
                .note("refused", &format!("`{}` of `{}`: {}", tool.tool, tool.server, tool.reason));
        }
    }
    let replays = match (&copied, arguments.fallback) {
        (None, _) => Vec::new(),
        (Some(_), None) => {
            // If a server was left out, tool searches give other results than the recorded ones. So the requests are
            // not compared.
            let with = match (&servers, arguments.agents) {
                (Some(_), _) => With::Servers,
                (None, true) => With::Agents,
                (None, false) if arguments.report => With::Report,
                (None, false) => With::Nothing,
            };
            let is_compared = arguments.record.is_none()
                && !is_beside_a_dead_server
                && arguments.window.is_none();
            vec![offline::replay(arguments.provider, with, &folder, is_compared).await?]
        }
        (Some(_), Some(fallback)) => {
            let providers = [arguments.provider, fallback];
            offline::replays(providers, &folder, model::ATTEMPTS).await?.into()
        }
    };
    let recorder =
        arguments.record.as_deref().map(|file| recorder(file, arguments, &folder, &executor));
    let recorder = recorder.transpose()?;
    let sizes = arguments.window.map(|_| Sizes::default());
    let models = Models::of(arguments, &replays, recorder.clone(), sizes.clone(), transcript)?;

    let signals = Signals::listen();
    let model = Arc::clone(&models.model);
    let built = match arguments.agents {
        // The agent builds the executor, with the tool that starts the sub-agents.
        true => agents::built(application::prepared(parts(None))?, model, |it| {
            configured(it, arguments, transcript, sizes.clone())
        }),
        false => {
            // With a report, the run must not end by `complete_task`.
            let executor = match arguments.report {
                true => executor.pinned(&executor.catalog().without(["complete_task"])),
                false => executor,
            };
            let (agent, said) =
                configured(Agent::on(executor, model), arguments, transcript, sizes.clone());
            agent.build().map(|agent| (agent, said))
        }
    };
    let built =
        built.map_err(|error| Problem::application("the provider does not take the tools", error));
    let worked = match built {
        Ok((agent, said)) => worked(arguments, &agent, &said, &signals, transcript).await,
        Err(problem) => Err(problem),
    };
    if let Some(servers) = servers {
        servers.close().await;
    }
    let (ended, turns, spent) = worked?;
    let mut end = End::of(ended, arguments.provider.name(), &arguments.model);
    end.turns = turns;
    end.spent(spent);
    (end.waited, end.at_once) = counted.total();
    if let Some(fallback) = arguments.fallback
        && models.has_fallen_back()
    {
        end.fallback = Some(FallbackEnd { provider: fallback.name(), model: fallback.model() });
    }
    if let Some(copied) = copied
        && arguments.keep
    {
        copied.keep();
        end.folder = Some(folder.display().to_string());
        transcript.note("kept", &folder.display().to_string());
    }
    let code = end.exit_code().unwrap_or_else(|| signals.exit_code());
    if let Some(recorder) = recorder {
        recorder.finish().map_err(|error| Problem::failed("the recording is not whole", error))?;
    }
    if code == 0 {
        for replay in replays {
            replay
                .finish()
                .map_err(|error| Problem::failed("the recording was not followed", error))?;
        }
    }
    transcript.note("end", &end.words());
    print(&end)?;
    Ok(code)
}

fn servers(file: &Path) -> Result<McpConfig, Problem> {
    McpConfig::read(file).map_err(|error| {
        let source = std::error::Error::source(&error);
        let source = source.map(|source| format!(": {source}")).unwrap_or_default();
        Problem::Usage(format!(
            "the servers of `{}` cannot be used: {error}{source}",
            file.display()
        ))
    })
}

/// Configures the agent as every run of this program has it, with the printer of what its model says.
fn configured<E>(
    agent: AgentBuilder<E>,
    arguments: &Arguments,
    transcript: Transcript,
    sizes: Option<Sizes>,
) -> (AgentBuilder<E>, Said) {
    let said = Said::default();
    let heard = said.clone();
    let agent = agent
        .instructions(if arguments.report { REPORTING } else { SYSTEM })
        .max_turns(arguments.turns)
        .listen(move |notice| {
            sizes.iter().for_each(|it| it.notice(notice, transcript));
            transcript.notice(notice, &heard);
        });
    let agent = arguments.window.into_iter().fold(agent, AgentBuilder::window);
    let agent = if streams(arguments) { agent.early_reads() } else { agent };
    let agent = if arguments.report { agent.output::<Report>() } else { agent };
    (agent, said)
}

/// Returns whether answers are streamed. A recording needs whole answers.
fn streams(arguments: &Arguments) -> bool {
    arguments.record.is_none()
}

async fn worked(
    arguments: &Arguments,
    agent: &Agent,
    said: &Said,
    signals: &Signals,
    transcript: Transcript,
) -> Result<(Result<RunEnd, Stopped>, u64, TotalUsage), Problem> {
    let mut run = agent
        .new_run(run_id())
        .cancelled_by(signals.token())
        .start()
        .map_err(|error| Problem::application("the run cannot start", error))?;
    if streams(arguments) {
        transcript.follow(said, || run.events());
    }
    let ended = run.send(arguments.task.as_str()).await;
    Ok((ended, run.state().turn(), run.state().spent()))
}

/// Returns a new id for a run. The change log distinguishes the runs by these ids.
pub fn run_id() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("coder-{}-{}", since.as_secs(), process::id())
}

fn recorder(
    file: &Path,
    arguments: &Arguments,
    folder: &Path,
    executor: &Executor,
) -> Result<Arc<Recorder>, Problem> {
    let provider = arguments.provider.wire();
    let catalog = executor.catalog();
    let listing = catalog
        .listing(provider.into())
        .map_err(|error| Problem::application("the provider does not take the tools", error))?;
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let placeholders = offline::placeholders(&folder);
    let recorder = Recorder::create(file, provider, placeholders, &catalog, &listing);
    recorder.map(Arc::new).map_err(|error| {
        let file = file.display();
        Problem::Usage(format!("the recording `{file}` cannot be begun: {error}; name a new file"))
    })
}

pub fn print(end: &End<'_>) -> Result<(), Problem> {
    let line = serde_json::to_string(end);
    let line = line.map_err(|error| Problem::application("the end cannot be written", error))?;
    match writeln!(io::stdout(), "{line}").and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Problem::failed("the end cannot be written", error))
        }
        _ => Ok(()),
    }
}
