//! The parsed form of command lines for a policy: their programs with the arguments, as plain data from any parser.

use std::fmt;

use toolwright_core::tool::Danger;

/// The effects of a command line, for the rules of a policy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// Every program that the command line runs.
    pub commands: Vec<ProgramCall>,
    /// The parts of the command line that cannot be known before it runs, each with the reason.
    pub unknown: Vec<String>,
    /// The effects of the command line besides running programs: files that the shell writes, variables that it sets. A
    /// rule that allows covers no line with such effects.
    pub besides: Vec<String>,
}

/// A call of a program in a command line, with its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramCall {
    /// The program, as the command line spells it; `None` if it is unknown before the line runs.
    pub program: Option<String>,
    /// The arguments of the program; `None` for an argument that is not known before the program runs.
    pub arguments: Vec<Option<String>>,
    /// The part of the command line that contains the call of the program.
    pub part: String,
}

/// A parser of command lines, which runs nothing. [`PolicyBuilder::commands`](super::PolicyBuilder::commands) sets it.
///
/// ```
/// use toolwright::policy::{CommandLine, ProgramCall, ReadCommands};
///
/// /// Parses a language without pipes and quotes.
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
    /// Parses a command line.
    fn read(&self, text: &str) -> CommandLine;

    /// Returns how dangerous a command line is and which part makes it so, for people who want to know why they are
    /// asked. Rules do not use it. By default, it returns `None`.
    fn rating(&self, _text: &str) -> Option<(Danger, String)> {
        None
    }
}
