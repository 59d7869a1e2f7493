//! The command line of an application: a subcommand for each tool, and the commands that every command line has.

mod advice;
mod collision;
mod command;
mod completions;
mod consent;
mod dry_run;
mod exit;
mod field;
mod flags;
mod help;
mod manual;
mod names;
mod near;
mod ordered;
mod policy;
mod render;
mod run;
mod stop;
mod streams;
mod tools;
mod typed;
mod version;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{ArgMatches, Command};

pub use self::collision::{CommandError, CommandProblem, NamedTool};
use self::consent::Consent;
pub use self::exit::Exit;
use self::stop::Stop;
use self::streams::complain;
use toolwright_executor::catalog::Catalog;
use toolwright_executor::executor::{Executor, ExecutorBuilder, Run};
use toolwright_executor::registry::Registry;

/// Runs the command line of an application whose linked tools need no services. It is synchronous, and starts its own
/// tokio runtime.
///
/// There is no policy: every typed command runs, unless its tool asks for approval. Then the person at the terminal is
/// asked. Without a terminal, the command ends with exit code 3, unless `--yes` approves it. If others than people may
/// type commands, use [`main_with`], which can give the executor a policy and an approver.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     toolwright::cli::main()
/// }
/// ```
#[must_use]
pub fn main() -> ExitCode {
    main_with(ExecutorBuilder::unrestricted)
}

/// Runs the command line of an application whose tools need services: `configure` registers the services with the
/// executor's builder.
///
/// An agent can type commands too, so a typed command is judged like any call: unless the application sets a policy, a
/// person is asked about every call that is not safe. The executor asks the approver that `configure` sets. If
/// `configure` sets neither an approver nor a journal, the executor asks the person at the terminal, as
/// [`Terminal`](crate::terminal::Terminal) does. If no person can be asked, the command ends with exit code 3, and
/// nothing ran. With `.unrestricted()`, a typed command runs unless its tool asks for approval.
///
/// `--yes` approves the typed call, but not the calls that it makes. An application with its own approver or journal
/// refuses the flag.
///
/// If `configure` does not register a service, the commands of tools that need it end with exit code 70; other commands
/// run.
///
/// ```no_run
/// struct Greeting(&'static str);
///
/// fn main() -> std::process::ExitCode {
///     toolwright::cli::main_with(|builder| builder.service(Greeting("Hello")))
/// }
/// ```
#[must_use]
pub fn main_with(configure: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder) -> ExitCode {
    whole(std::env::args_os(), configure).err().unwrap_or(Exit::Success).into()
}

/// Makes the commands of these tools, for an application with a command line of its own. They are subcommands of one
/// command, `tools`, which may be renamed; [`run`] runs the matched subcommand. The application adds clap 4 to its own
/// `Cargo.toml`.
///
/// ```
/// use clap::Command;
/// use toolwright::{Executor, Registry, cli, tool};
///
/// /// Greets a person.
/// #[tool(effect = read)]
/// async fn greet(
///     /// Whom.
///     name: String,
/// ) -> String {
///     format!("Hello, {name}!")
/// }
///
/// let registry = Registry::of([GREET])?;
/// let application = Command::new("mine")
///     .subcommand(Command::new("serve"))
///     .subcommand(cli::command(&registry.catalog())?.name("tool"));
/// let matches = application.try_get_matches_from(["mine", "tool", "greet", "Ada"])?;
///
/// let Some(("tool", matches)) = matches.subcommand() else { panic!("it was typed") };
/// let executor = Executor::builder(registry).build()?;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// assert_eq!(cli::run(&executor, matches).await, cli::Exit::Success);
/// # });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the names of the tools or of their flags make no command line, see [`CommandProblem`]. The error lists all
/// problems.
pub fn command(catalog: &Catalog) -> Result<Command, CommandError> {
    command::of(catalog.definitions(), false)
}

/// Runs the subcommand that was matched by [`command`]. Writes the result to standard output, and messages for people
/// to standard error. A caller that drops the future cancels the call. [`run_in`] runs the subcommand with the services
/// of a run.
pub async fn run(executor: &Executor, matches: &ArgMatches) -> Exit {
    run::run(executor, matches, &Stop::never(), Consent::Application)
        .await
        .err()
        .unwrap_or(Exit::Success)
}

/// Runs the subcommand that was matched by [`command`] as [`run`](fn@run) does, but as a call of this run: with the
/// run's services, for its user, and until the run is cancelled.
///
/// ```
/// use toolwright::{Executor, Registry, cli, tool};
///
/// struct Ticket(u32);
///
/// /// Tells the number of the ticket.
/// #[tool(effect = read)]
/// async fn tell_ticket(ticket: &Ticket) -> u32 {
///     ticket.0
/// }
///
/// let registry = Registry::of([TELL_TICKET])?;
/// let matches = cli::command(&registry.catalog())?.try_get_matches_from(["mine", "tell-ticket"])?;
/// let executor = Executor::builder(registry).per_run::<Ticket>().build()?;
/// let run = executor.run("ticket-7").with(Ticket(7)).start()?;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// assert_eq!(cli::run_in(&run, &matches).await, cli::Exit::Success);
/// # });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn run_in(run: &Run, matches: &ArgMatches) -> Exit {
    self::run(&run.as_executor(), matches).await
}

fn whole(
    arguments: impl Iterator<Item = OsString>,
    configure: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder,
) -> Result<(), Exit> {
    let registry = Registry::linked().map_err(|error| complain(Exit::Application, error))?;
    let catalog = registry.catalog();
    let command = command::of(catalog.definitions(), true)
        .map_err(|error| complain(Exit::Application, error))?;
    let program = program();
    let command = match version::of(&program, catalog.definitions()) {
        Some(version) => command.version(version),
        None => command,
    };
    let mut command = command
        .name(program)
        .about("Run this application's tools")
        .disable_help_subcommand(true)
        .subcommands([completions::command(), manual::command()]);
    let matches = match command.try_get_matches_from_mut(arguments) {
        Ok(matches) => matches,
        // Clap also reports the output of `--help` and similar options as an error.
        Err(message) => {
            return streams::print_message(&near::suggest(message, catalog.definitions()));
        }
    };
    match matches.subcommand() {
        Some((completions::NAME, below)) => return completions::run(command, below),
        Some((manual::NAME, below)) => return manual::run(command, below),
        // This command runs no tool, so it needs no services.
        Some((tools::NAME, below)) => return tools::run(&catalog, below),
        _ => {}
    }
    let asked = matches.subcommand().filter(|(name, _)| *name == policy::NAME);
    let mut builder = configure(Executor::builder(registry));
    if asked.is_some_and(|(_, below)| policy::names_one(below)) {
        builder = builder.without_policy();
    }
    let consent = Consent::of(&builder, flags::is_approved(&matches))?;
    let builder = consent.ask(builder).tolerate_missing();
    let executor = builder.build().map_err(|error| match error.policy() {
        Some(wrong) if asked.is_some() => complain(Exit::Usage, wrong),
        _ => complain(Exit::Application, error),
    })?;
    if let Some((_, below)) = asked {
        return policy::run(&executor, below);
    }
    if tokio::runtime::Handle::try_current().is_ok() {
        let error = "the command line is inside a tokio runtime and starts one of its own; take `#[tokio::main]` off and write `fn main() -> ExitCode`, or run the commands of `cli::command` with `cli::run`";
        return Err(complain(Exit::Application, error));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        complain(Exit::Application, format!("no tokio runtime could be started: {error}"))
    })?;
    let ended = runtime.block_on(run::run(&executor, &matches, &Stop::by_signals(), consent));
    // The runtime does not wait for the thread of a blocking tool that ran out of time.
    runtime.shutdown_background();
    ended
}

/// Returns the name by which the user started the program.
fn program() -> String {
    let path = std::env::args_os().next().map(PathBuf::from);
    let stem = path.as_deref().and_then(Path::file_stem);
    stem.map_or_else(|| "tools".to_owned(), |stem| stem.to_string_lossy().into_owned())
}
