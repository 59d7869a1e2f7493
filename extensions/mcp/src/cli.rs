//! The command line of an application, with `mcp serve` beside its tools (feature `cli`).

use std::process::ExitCode;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command};
use toolwright::{Executor, ExecutorBuilder, Registry};

use crate::McpServer;

/// How long calls in progress may take to finish after the server has stopped.
const DRAIN: Duration = Duration::from_secs(5);

/// The exit code for an application that is built incorrectly; [`toolwright::cli`] uses the same.
const APPLICATION: u8 = 70;

/// Runs [`toolwright::cli::main_with`] with one more command, `mcp serve`, which serves the linked tools over standard input
/// and output. `describe` completes the server: its name, version, instructions, profiles.
///
/// | option | |
/// | --- | --- |
/// | `--http ADDR` | serves many clients over HTTP (feature `http-server`); if other machines can reach the address, `describe` has to set a check of tokens |
/// | `--profile NAME` | serves only the tools of this one of [the server's profiles](McpServer::profiles); refused if the application chooses a profile for each user ([`McpServer::profile_of`]) |
///
/// The command uses the same executor as the other commands. The executor treats each call of a client as a model's
/// call: if the policy asks for an approval, the call waits in the journal, or is refused if there is no journal. An
/// application that has a group of tools called `mcp` needs another name for that group.
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
        .about("Serves the tools to one client over standard input and output, until standard input is closed")
        .arg(
            Arg::new("profile")
                .long("profile")
                .value_name("NAME")
                .help("Serve the tools of this profile alone"),
        );
    #[cfg(feature = "http-server")]
    let serve = serve.arg(
        Arg::new("http")
            .long("http")
            .value_name("ADDR")
            .value_parser(clap::value_parser!(std::net::SocketAddr))
            .help("Serve many clients over HTTP at this address, such as 127.0.0.1:8080, until it is interrupted"),
    );
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
    let matches = match command.try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(message) => {
            let _ = message.print();
            return ExitCode::from(u8::try_from(message.exit_code()).unwrap_or(APPLICATION));
        }
    };
    let Some((_, serve)) = matches.subcommand() else { return ExitCode::from(APPLICATION) };
    match serve_to_end(configure, describe, serve) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(APPLICATION)
        }
    }
}

fn serve_to_end(
    configure: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder,
    describe: impl FnOnce(McpServer) -> McpServer,
    serve: &ArgMatches,
) -> Result<(), Box<dyn std::error::Error>> {
    let executor = configure(Executor::builder(Registry::linked()?)).build()?;
    let server = describe(McpServer::new(executor.clone()));
    let server = match serve.get_one::<String>("profile") {
        Some(name) => with_profile(server, name)?,
        None => server,
    };
    #[cfg(feature = "http-server")]
    let http = match serve.get_one::<std::net::SocketAddr>("http") {
        Some(address) => Some(server.clone().http(*address)?),
        None => None,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        if let Some(worker) = executor.worker() {
            tokio::spawn(async move { worker.work().await });
        }
        #[cfg(feature = "http-server")]
        let ended = match http {
            Some(http) => over_http(http).await,
            None => server.serve_stdio().await,
        };
        #[cfg(not(feature = "http-server"))]
        let ended = server.serve_stdio().await;
        let _ = executor.drain(DRAIN).await;
        ended
    });
    // Do not wait for the thread that reads standard input: its read cannot be interrupted.
    runtime.shutdown_background();
    Ok(ended?)
}

/// Selects a profile for all users. An application that chooses a profile for each user would serve that one instead, so
/// the option is refused there.
fn with_profile(server: McpServer, name: &str) -> Result<McpServer, Box<dyn std::error::Error>> {
    if server.chooses_profiles() {
        return Err(
            "this application chooses a profile for each user; leave out `--profile`".into()
        );
    }
    Ok(server.profile(name)?)
}

#[cfg(feature = "http-server")]
async fn over_http(server: crate::HttpServer) -> Result<(), crate::ServeError> {
    let bound = server.bind().await?;
    eprintln!("serving at {}", bound.url());
    let ended = toolwright::CancellationToken::new();
    let interrupted = ended.clone();
    tokio::spawn(async move {
        // If this process cannot listen for signals, the signal itself ends the process.
        if tokio::signal::ctrl_c().await.is_ok() {
            interrupted.cancel();
        }
    });
    bound.serve_until(ended).await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use toolwright::{DynamicTool, Effect, Profiles};

    use super::*;

    #[test]
    fn a_profile_is_refused_where_the_application_chooses_one_for_each_user() {
        let schema = serde_json::json!({"type": "object"});
        let hello = DynamicTool::new("hello", "Says hello.", schema, |_, _| async { Ok("hello") });
        let registry = Registry::empty();
        registry.register(hello.effect(Effect::Read)).unwrap();
        let executor = Executor::builder(registry).build().unwrap();
        let profiles = r#"{"reader": ["hello"], "owner": ["*"]}"#;
        let profiles: Profiles = serde_json::from_str(profiles).unwrap();
        let server = McpServer::new(executor).profiles(profiles);
        assert!(with_profile(server.clone(), "reader").is_ok());
        let refused = with_profile(server.profile_of(|_| "owner"), "reader").unwrap_err();
        assert!(refused.to_string().contains("leave out `--profile`"), "{refused}");
    }
}
