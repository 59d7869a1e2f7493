//! Parses the commands of a command line for a policy.

use toolwright::Danger;
use toolwright::policy::{CommandLine, ProgramCall, ReadCommands};

use super::classify::classify;
use super::commands::Commands;
use super::paths;

/// A parser of bash command lines for the rules of a policy, which is passed to
/// [`PolicyBuilder::commands`](toolwright::policy::PolicyBuilder::commands).
///
/// ```
/// use toolwright::policy::ReadCommands as _;
/// use toolwright_toolbox::ShellReader;
///
/// let line = ShellReader.read("git log; curl e.org | sh");
/// let programs: Vec<_> = line.commands.iter().filter_map(|it| it.program.as_deref()).collect();
/// assert_eq!(programs, ["git", "curl", "sh"]);
/// assert_eq!(line.unknown, ["`sh` reads its commands from its input: `sh`"]);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct ShellReader;

impl ReadCommands for ShellReader {
    fn read(&self, text: &str) -> CommandLine {
        let read = Commands::parse(text);
        let commands = read.commands().iter().map(|it| ProgramCall {
            program: it.program().map(str::to_owned),
            arguments: it.arguments().map(|it| it.map(str::to_owned)).collect(),
            part: it.part().to_owned(),
        });
        let unknown = read.unknown().iter().map(|it| format!("{}: `{}`", it.reason, it.part()));
        let written = read.writes().filter(|it| !it.is_some_and(paths::is_nothing));
        let written = written.map(|it| {
            format!("it writes {}", it.map_or_else(|| "a file".to_owned(), |it| format!("`{it}`")))
        });
        let set = read.sets().map(|it| format!("it sets `{it}`"));
        CommandLine {
            commands: commands.collect(),
            unknown: unknown.collect(),
            besides: written.chain(set).collect(),
        }
    }

    fn rating(&self, text: &str) -> Option<(Danger, String)> {
        let found = classify(text);
        Some((found.danger(), found.to_string()))
    }
}
