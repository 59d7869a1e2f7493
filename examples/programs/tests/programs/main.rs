//! The programs as their users run them: against a provider on loopback, at a terminal, as a command and as a server.
#![cfg(test)]
#![cfg(unix)]

mod approve;
mod approve_durable;
mod chat;
mod cli_and_mcp;
mod coding;
mod delegate;
mod durable;
mod external;
mod hello;
mod plugins;
mod provider;
#[cfg(target_os = "linux")]
mod terminal;
mod typed;

use std::process::{Command, Output, Stdio};

/// One of the programs, without the variables of the user who runs the tests.
fn program(path: &str) -> Command {
    let mut command = Command::new(path);
    let variables = std::env::vars_os().filter(|(name, _)| {
        let name = name.to_string_lossy();
        !name.ends_with("_API_KEY") && !name.ends_with("_BASE_URL")
    });
    command.env_clear().envs(variables).stdin(Stdio::null());
    command
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What a program that succeeded printed.
fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    words(&output.stdout)
}
