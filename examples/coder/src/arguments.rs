//! The arguments of `coder run`.

use std::path::PathBuf;

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser as _};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use toolwright::approval::PublicKey;

use crate::end::Problem;
use crate::run::run_id;

pub const NAME: &str = "run";

/// The file of the journal unless `--journal` names another.
const JOURNAL: &str = "calls.db";

pub const RESUME: &str = "resume";

/// The value of `--fallback` that lets the program choose the provider.
const OTHER: &str = "other";

/// The API of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    Anthropic,
    OpenAiChat,
    OpenAiResponses,
    Gemini,
}

pub struct Arguments {
    pub task: String,
    pub folder: PathBuf,
    pub provider: Provider,
    /// The provider to which requests go when the first one fails.
    pub fallback: Option<Provider>,
    pub base_url: Option<String>,
    /// The program that prints the account's API key, and its arguments.
    pub key_command: Option<Vec<String>>,
    pub model: String,
    pub turns: u32,
    /// The context window in tokens, to which the history is shortened.
    pub window: Option<u64>,
    pub offline: bool,
    pub keep: bool,
    pub sandbox: bool,
    /// Whether the model may run command lines.
    pub shell: bool,
    pub record: Option<PathBuf>,
    /// Whether the model may delegate tasks to a researcher and a reviewer.
    pub agents: bool,
    /// The file that lists the MCP servers whose tools the model may use.
    pub mcp: Option<PathBuf>,
    pub json: bool,
    /// Whether the run ends with a report about the changes.
    pub report: bool,
    /// The journal that records the run; `None` if the run is not recorded.
    pub durable: Option<Durable>,
}

/// A recorded run, which another process can take over.
#[derive(Debug, Clone)]
pub struct Durable {
    pub journal: PathBuf,
    /// The id of the run.
    pub run: String,
    /// The people who may decide about calls of the run.
    pub trusted: Vec<TrustedKey>,
}

/// A person and the public key that verifies their decisions.
#[derive(Debug, Clone)]
pub struct TrustedKey {
    pub name: String,
    pub key: PublicKey,
}

impl Durable {
    /// Parses the arguments of `coder resume`.
    pub fn of(matches: &ArgMatches) -> Result<Self, Problem> {
        let run = matches.get_one::<String>("run").cloned().unwrap_or_default();
        Ok(Self { journal: journal_of(matches), run, trusted: trusted_keys(matches)? })
    }
}

fn trusted_keys(matches: &ArgMatches) -> Result<Vec<TrustedKey>, Problem> {
    let given = matches.get_many::<String>("trust").into_iter().flatten();
    let read = given.map(|it| {
        let (name, key) = it.split_once('=').unwrap_or((it, ""));
        let key = key.parse().map_err(|error| {
            Problem::Usage(format!(
                "found `--trust {it}`, expected NAME=KEY with the key that `toolwright keys new` prints: {error}"
            ))
        })?;
        Ok(TrustedKey { name: name.to_owned(), key })
    });
    read.collect()
}

fn trust_option() -> Arg {
    Arg::new("trust")
        .long("trust")
        .value_name("NAME=KEY")
        .action(ArgAction::Append)
        .help("Whose decisions count: a name and the public key that `toolwright keys new` prints")
}

pub fn journal_of(matches: &ArgMatches) -> PathBuf {
    matches.get_one::<PathBuf>("journal").cloned().unwrap_or_else(|| JOURNAL.into())
}

impl Provider {
    const ALL: [Self; 4] = [Self::Anthropic, Self::OpenAiChat, Self::OpenAiResponses, Self::Gemini];

    pub fn name(self) -> &'static str {
        self.wire().name()
    }

    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Returns the message format of the API.
    pub fn wire(self) -> toolwright::provider::Provider {
        match self {
            Self::Anthropic => toolwright::provider::Provider::Anthropic,
            Self::OpenAiChat => toolwright::provider::Provider::OpenAiChat,
            Self::OpenAiResponses => toolwright::provider::Provider::OpenAiResponses,
            Self::Gemini => toolwright::provider::Provider::Gemini,
        }
    }

    /// Returns the environment variable that holds the API key.
    pub fn variable(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::OpenAiChat | Self::OpenAiResponses => "OPENAI_API_KEY",
            Self::Gemini => "GEMINI_API_KEY",
        }
    }

    /// Returns the provider to fall back to if the command line names none.
    fn other(self) -> Self {
        match self {
            Self::OpenAiChat => Self::Anthropic,
            _ => Self::OpenAiChat,
        }
    }

    pub fn model(self) -> &'static str {
        match self {
            Self::Anthropic => "claude-sonnet-4-6",
            Self::OpenAiChat | Self::OpenAiResponses => "gpt-5.2",
            Self::Gemini => "gemini-2.5-pro",
        }
    }
}

pub fn command() -> Command {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
    };
    let option = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).help(help).value_name(value)
    };
    let provider = PossibleValuesParser::new(Provider::ALL.map(Provider::name));
    let provider = provider.map(|name| {
        Provider::ALL.into_iter().find(|it| it.name() == name).unwrap_or(Provider::Anthropic)
    });
    let names = [OTHER].into_iter().chain(Provider::ALL.map(Provider::name));
    let fallback = PossibleValuesParser::new(names);
    Command::new(NAME)
        .about("Let a model do a task")
        .after_help(
            "The key of the account comes from ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or from `--key-command`.\n\n\
             Exit code: 0 done, 1 the model failed, 2 wrong command line, 3 a call needs a decision and no approver \
             is available, 4 a limit was reached, 130 interrupted",
        )
        .args([
            Arg::new("task").value_name("TASK").required(true).help("What is to be done"),
            option("folder", "DIR", "The folder to work in")
                .value_parser(value_parser!(PathBuf))
                .default_value("."),
            option("provider", "NAME", "Whose API is spoken")
                .value_parser(provider)
                .default_value("anthropic"),
            option("fallback", "PROVIDER", "Ask a model of another provider where this one is down")
                .value_parser(fallback)
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value(OTHER),
            option("base-url", "URL", "The server; the vendor's own when absent")
                .value_parser(NonEmptyStringValueParser::new()),
            option("key-command", "COMMAND", "The program that prints the key of the account, with its arguments between spaces")
                .value_parser(NonEmptyStringValueParser::new())
                .conflicts_with_all(["offline", "fallback"]),
            option("model", "NAME", "The model; claude-sonnet-4-6, gpt-5.2 or gemini-2.5-pro when absent")
                .value_parser(NonEmptyStringValueParser::new()),
            option("turns", "N", "How often the model is asked at most")
                .value_parser(value_parser!(u32).range(1..))
                .default_value("25"),
            option("window", "TOKENS", "The model's context window: a history that outgrows it is sent shorter, and the size of each request is written")
                .value_parser(value_parser!(u64).range(1_000..)),
            flag("offline", "Work on a copy of the crate strsim, with a recorded model")
                .conflicts_with_all(["folder", "base-url"]),
            flag("sandbox", "Run programs without the network, writing nothing but the folder; needs bubblewrap"),
            flag("shell", "Let the model run command lines by bash too; those that are rated safe run unasked")
                .conflicts_with("offline"),
            flag("keep", "Keep the copy of `--offline`, and name it").requires("offline"),
            option("record", "FILE", "Write what goes between here and the provider to a new file")
                .value_parser(value_parser!(PathBuf)),
            option("mcp", "FILE", "Let the model use the tools of the MCP servers that this file names")
                .value_parser(value_parser!(PathBuf)),
            flag("agents", "Let the model give tasks to two other agents: a researcher, who reads, and a reviewer, who reads and runs tests")
                .conflicts_with_all(["mcp", "fallback", "journal", "run"]),
            option("journal", "FILE", "Record the run in this file, so that `coder resume` takes it up; calls.db where only --run is given")
                .value_parser(value_parser!(PathBuf)),
            option("run", "NAME", "Record the run under this name; a new one where only --journal is given")
                .value_parser(NonEmptyStringValueParser::new()),
            trust_option(),
            flag("report", "End in a report of what was changed: its fields are in the object on standard output")
                .conflicts_with_all(["journal", "run", "fallback", "mcp", "agents"]),
            flag("json", "Write the transcript as JSON lines"),
            // The commands of the tools define `help` as well.
            Arg::new("help").short('h').long("help").help("Print help").action(ArgAction::Help),
        ])
}

/// Declares the argument that names a recorded run.
pub fn run_argument() -> Arg {
    Arg::new("run")
        .value_name("NAME")
        .required(true)
        .value_parser(NonEmptyStringValueParser::new())
        .help("The name of the run; `toolwright runs list` has those of a journal")
}

/// Declares the option that names the journal.
pub fn journal_option() -> Arg {
    Arg::new("journal")
        .long("journal")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help("The file that it is recorded in; calls.db unless given")
}

/// Declares the command that resumes a recorded run.
pub fn resume_command() -> Command {
    Command::new(RESUME).about("Go on with a recorded run where it stopped, in this process").args(
        [
            run_argument(),
            journal_option(),
            trust_option(),
            Arg::new("json")
                .long("json")
                .help("Write the transcript as JSON lines")
                .action(ArgAction::SetTrue),
            Arg::new("help").short('h').long("help").help("Print help").action(ArgAction::Help),
        ],
    )
}

impl Arguments {
    pub fn of(matches: &ArgMatches) -> Result<Self, Problem> {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        let path = |name: &str| matches.get_one::<PathBuf>(name).cloned();
        let task = text("task").unwrap_or_default();
        if task.trim().is_empty() {
            let message = "the task is empty, expected what is to be done; write for instance \
                           coder run \"make the tests pass\"";
            return Err(Problem::Usage(message.to_owned()));
        }
        let provider = matches.get_one::<Provider>("provider").copied();
        let provider = provider.unwrap_or(Provider::Anthropic);
        let fallback = match text("fallback").as_deref() {
            None => None,
            Some(OTHER) => Some(provider.other()),
            Some(name) => Provider::ALL.into_iter().find(|it| it.name() == name),
        };
        let offline = matches.get_flag("offline");
        if fallback == Some(provider) {
            let name = provider.name();
            let message = format!("the fallback of {name} is {name} itself; name another provider");
            return Err(Problem::Usage(message));
        }
        if fallback.is_some() && matches.contains_id("record") {
            let message = "a recording is of one provider; leave `--record` or `--fallback` out";
            return Err(Problem::Usage(message.to_owned()));
        }
        let mcp = path("mcp");
        let is_durable = ["journal", "run"].iter().any(|it| matches.contains_id(it));
        let trusted = trusted_keys(matches)?;
        if !is_durable && !trusted.is_empty() {
            let message = "decisions of other processes reach a recorded run alone; add `--journal` or `--run`, or leave `--trust` out";
            return Err(Problem::Usage(message.to_owned()));
        }
        let durable = is_durable.then(|| Durable {
            journal: journal_of(matches),
            run: text("run").unwrap_or_else(run_id),
            trusted,
        });
        if durable.is_some()
            && (fallback.is_some() || mcp.is_some() || matches.contains_id("record"))
        {
            let message = "a recorded run is taken up with one provider and the tools of this program; leave `--fallback`, `--mcp` and `--record` out";
            return Err(Problem::Usage(message.to_owned()));
        }
        if offline && mcp.is_some() && (provider != Provider::Anthropic || fallback.is_some()) {
            let message = "the only recorded run with MCP servers is of anthropic; leave `--provider` and `--fallback` out";
            return Err(Problem::Usage(message.to_owned()));
        }
        let report = matches.get_flag("report");
        if offline && report && provider != Provider::Anthropic {
            let message =
                "the only recorded run with a report is of anthropic; leave `--provider` out";
            return Err(Problem::Usage(message.to_owned()));
        }
        let agents = matches.get_flag("agents");
        if offline && agents && provider != Provider::Anthropic {
            let message =
                "the only recorded run with other agents is of anthropic; leave `--provider` out";
            return Err(Problem::Usage(message.to_owned()));
        }
        Ok(Self {
            task,
            folder: path("folder").unwrap_or_else(|| ".".into()),
            provider,
            fallback,
            base_url: text("base-url"),
            key_command: text("key-command")
                .map(|it| it.split_whitespace().map(str::to_owned).collect()),
            model: text("model").unwrap_or_else(|| provider.model().to_owned()),
            turns: matches.get_one("turns").copied().unwrap_or(25),
            window: matches.get_one("window").copied(),
            offline,
            keep: matches.get_flag("keep"),
            sandbox: matches.get_flag("sandbox"),
            shell: matches.get_flag("shell"),
            record: path("record"),
            agents,
            mcp,
            json: matches.get_flag("json"),
            report,
            durable,
        })
    }
}
