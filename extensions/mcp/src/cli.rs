//! The command line of an application, with `mcp serve` beside its tools (feature `cli`).

use std::process::ExitCode;
use std::time::Duration;

use clap::Command;
use toolwright::{Executor, ExecutorBuilder, Registry};

use crate::McpServer;

/// How long calls that run have to end once the client is gone.
const DRAIN: Duration = Duration::from_secs(5);

/// The application itself is put together wrongly; as in [`toolwright::cli`].
const APPLICATION: u8 = 70;

/// [`toolwright::cli::main_with`], and the command `mcp serve`, which serves the linked tools over standard input and
/// output. `describe` completes the server: its name, version, instructions.
///
/// The executor is that of the other commands. It judges each call of a client as a model's: what the policy asks about
/// waits in the journal, or is refused where there is none. An application with a group of tools called `mcp` needs
/// another name for it.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     toolwright_mcp::cli::main_with(|builder| builder, |server| server.version("1.0.0"))
/// }
/// ```
#[must_use]
pub fn main_with(
    configure: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder,
    describe: impl FnOnce(McpServer) -> McpServer,
) -> ExitCode {
    let mut words = std::env::args_os();
    let program = words.next();
    let mut words = words.peekable();
    if words.peek().is_none_or(|word| word != "mcp") {
        return toolwright::cli::main_with(configure);
    }
    let serve = Command::new("serve")
        .about("Serves the tools to one client over standard input and output, until standard input is closed");
    let command = Command::new("mcp")
        .about("The Model Context Protocol")
        .no_binary_name(false)
        .arg_required_else_help(true)
        .subcommand_required(true)
        .subcommand(serve);
    let command = match program.as_ref().and_then(|it| it.to_str()) {
        Some(program) => command.bin_name(format!("{program} mcp")),
        None => command,
    };
    if let Err(message) = command.try_get_matches_from(words) {
        let _ = message.print();
        return ExitCode::from(u8::try_from(message.exit_code()).unwrap_or(APPLICATION));
    }
    match served(configure, describe) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(APPLICATION)
        }
    }
}

fn served(
    configure: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder,
    describe: impl FnOnce(McpServer) -> McpServer,
) -> Result<(), Box<dyn std::error::Error>> {
    let executor = configure(Executor::builder(Registry::linked()?)).build()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        if let Some(worker) = executor.worker() {
            tokio::spawn(async move { worker.work().await });
        }
        let ended = describe(McpServer::new(executor.clone())).serve_stdio().await;
        let _ = executor.drain(DRAIN).await;
        ended
    });
    // The thread that reads standard input is not waited for.
    runtime.shutdown_background();
    Ok(ended?)
}
