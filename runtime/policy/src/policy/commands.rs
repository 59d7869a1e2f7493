//! Command lines as a policy sees them: the programs with their arguments. Whoever parses them hands them over as plain data.

use std::fmt;

use toolwright_core::tool::Danger;

/// What a command line runs, for the rules of a policy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// Every program that it runs.
    pub commands: Vec<ProgramCall>,
    /// What of it cannot be known before it runs, each with its reason.
    pub unknown: Vec<String>,
    /// What it does beside running programs: files that the shell writes, variables that are set. No allow covers it.
    pub besides: Vec<String>,
}

/// One program with its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramCall {
    /// The program as it is written; nothing where it is not known before it runs.
    pub program: Option<String>,
    /// Its arguments; nothing for one that is not known.
    pub arguments: Vec<Option<String>>,
    /// The part of the command line that it is in.
    pub part: String,
}

/// Parses command lines for a policy, without running anything: [`PolicyBuilder::commands`](super::PolicyBuilder::commands).
///
/// ```
/// use toolwright::policy::{CommandLine, ProgramCall, ReadCommands};
///
/// /// Of a language without pipes and quotes.
/// #[derive(Debug)]
/// struct Words;
///
/// impl ReadCommands for Words {
///     fn read(&self, text: &str) -> CommandLine {
///         let mut words = text.split_whitespace().map(|it| Some(it.to_owned()));
///         let program = words.next().flatten();
///         let call = ProgramCall { program, arguments: words.collect(), part: text.to_owned() };
///         CommandLine { commands: vec![call], ..CommandLine::default() }
///     }
/// }
/// ```
pub trait ReadCommands: fmt::Debug + Send + Sync {
    /// The commands of a command line.
    fn read(&self, text: &str) -> CommandLine;

    /// Returns how dangerous a command line is and which part of it decides, in words for people who ask why it is asked
    /// about. No rule sees it. Nothing unless it is overridden.
    fn rating(&self, _text: &str) -> Option<(Danger, String)> {
        None
    }
}
