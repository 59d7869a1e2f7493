//! A coding agent's tools: they read, list, search and write the files of the present folder, and run programs there,
//! as far as the policy allows.
//!
//! `workspace answer FILE…` answers the tool calls of captured provider messages;
//! `workspace file read README.md` runs one tool by hand; `workspace policy check` shows the policy;
//! `workspace mcp serve` serves the tools to a client of the Model Context Protocol.

mod answer;
mod tools;

use std::env;
use std::error::Error;
use std::process::ExitCode;

use toolwright::policy::Policy;
use toolwright::{Executor, ExecutorBuilder, Registry};
use toolwright_toolbox::Workspace;

/// The policy. It is compiled in, so that no file in the agent's folder can change it.
const POLICY: &str = include_str!("../policy.toml");

fn main() -> ExitCode {
    let workspace = match Workspace::open(".") {
        Ok(workspace) => workspace,
        Err(error) => {
            eprintln!("error: the current folder cannot be the workspace: {error}");
            return ExitCode::FAILURE;
        }
    };
    let policy = Policy::builder().base(workspace.root()).text("policy.toml", POLICY);
    let configure = |builder: ExecutorBuilder| builder.policy(policy).service(workspace);
    let mut words = env::args_os().skip(1);
    if words.next().is_none_or(|it| it != answer::NAME) {
        return toolwright_mcp::cli::main_with(configure, |server| {
            server.name("workspace").version(env!("CARGO_PKG_VERSION"))
        });
    }
    match executor(configure) {
        Ok(executor) => answer::run(&executor, &words.map(Into::into).collect::<Vec<_>>()),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(70)
        }
    }
}

fn executor(
    configure: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder,
) -> Result<Executor, Box<dyn Error>> {
    Ok(configure(Executor::builder(Registry::linked()?)).build()?)
}
