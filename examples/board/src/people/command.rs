//! Defines the arguments of the commands for people.

use clap::{Arg, ArgAction, Command, value_parser};

/// The names of the commands.
pub const NAMES: [&str; 7] = ["init", "new", "list", "show", "comment", "move", "criteria"];

/// Returns the commands.
#[must_use]
pub fn commands() -> [Command; 7] {
    let text = |name: &'static str, help: &'static str| Arg::new(name).required(true).help(help);
    let option = |name: &'static str, help: &'static str| Arg::new(name).long(name).help(help);
    let number = |name: &'static str, help: &'static str| {
        option(name, help).value_parser(value_parser!(i64))
    };
    let many = |arg: Arg| arg.action(ArgAction::Append);
    let flag =
        |name: &'static str, help: &'static str| option(name, help).action(ArgAction::SetTrue);
    let ticket = || text("ticket", "The id of the ticket").value_parser(value_parser!(i64));
    let by = || option("by", "Who you are; `USER` unless given");
    let criterion = "A criterion: `tests: TEXT`, `lint: TEXT`, `file PATH: TEXT` or `person: TEXT`";
    [
        Command::new("init").about("Adds a project, and makes the board where there is none").args(
            [
                text("repository", "The folder of its git repository"),
                option("name", "Its name").required(true),
                option(
                    "branch",
                    "The branch from which tickets branch off; the current one unless given",
                ),
                option("url", "The address of the repository, for people and models"),
                option("persona", "Who its agents are, in a sentence")
                    .default_value("You are a careful engineer."),
            ],
        ),
        Command::new("new").about("Adds a ticket").args([
            text("title", "What it is about, in a line"),
            option("description", "What it is about").default_value(""),
            option("type", "FEATURE, BUG or CHORE").default_value("FEATURE"),
            option("project", "The name of the project, where there are several"),
            option("profile", "The profile of its agent: developer, researcher or reviewer")
                .default_value("developer"),
            many(option("criterion", criterion)),
            flag("research", "Gives it to an agent at once, in place of the backlog"),
        ]),
        Command::new("list").about("Lists the tickets by their columns"),
        Command::new("show")
            .about("Shows a ticket with all that belongs to it")
            .args([ticket(), flag("json", "As JSON, for `bonsai-plan`")]),
        Command::new("comment")
            .about("Writes a comment, which the agent of the ticket reads")
            .args([
                ticket(),
                Arg::new("text").required_unless_present("resolve").help("The comment"),
                number("answer", "The comment that it answers"),
                number("resolve", "Resolves the thread of this comment in place of writing one"),
                by(),
            ]),
        Command::new("move").about("Moves a ticket to another column").args([
            ticket(),
            text("state", "BACKLOG, RESEARCH, IN_PROGRESS, VERIFICATION or DONE"),
            option("reason", "Why").required(true),
            by(),
        ]),
        Command::new("criteria").about("Shows the criteria of a ticket, and changes them").args([
            ticket(),
            many(option("add", criterion)),
            many(number("remove", "Removes this criterion")),
            many(number("met", "A criterion of evidence `person` is met")),
            many(number("unmet", "A criterion of evidence `person` is not met")),
            by(),
        ]),
    ]
}
