//! The commands, and how `--help` groups them. clap can only list all commands under one heading, so this module
//! writes the list itself, from each command's description.

use clap::Command;

use crate::{
    approvals, calls, dead_letters, indeterminate, input, keys, mcp, openapi, plan, runs, schema,
    spending,
};

const AFTER_HELP: &str = "\
Exit code: 0 done; 1 the journal or another file failed, or a tool, an operation or an input is refused; 2 the command line is \
wrong; 3 there is no such call, grant or run; 4 another person decided, the call expired, or it changed; 5 the key \
cannot be used.";

/// Declares the whole command line.
pub(crate) fn command() -> Command {
    let operating = [
        calls::command(),
        approvals::command(),
        plan::command(),
        indeterminate::command(),
        dead_letters::command(),
        runs::command(),
        spending::command(),
        keys::command(),
    ];
    let debugging = [schema::command(), input::command(), openapi::command()];
    let connecting = [mcp::command()];
    let groups = format!(
        "{}\n{}\n{}",
        group("Operating a journal", &operating),
        group("Debugging tools", &debugging),
        group("Connecting other applications", &connecting)
    );
    Command::new("toolwright")
        .about("Shows tools as language models see them, and operates the journal of their calls")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .help_template(format!(
            "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}\nOptions:\n{{options}}{{after-help}}"
        ))
        .after_help(AFTER_HELP)
        .subcommands(operating)
        .subcommands(debugging)
        .subcommands(connecting)
}

fn group(heading: &str, commands: &[Command]) -> String {
    let lines = commands.iter().map(|command| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        format!("  {:<15}{about}\n", command.get_name())
    });
    std::iter::once(format!("{heading}:\n")).chain(lines).collect()
}
