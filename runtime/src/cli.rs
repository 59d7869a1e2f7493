//! The command line of an application: a subcommand for each tool, `tools`, which shows what they are, `policy`, which
//! tells what becomes of calls, and `completions` for shells. Needs the feature `cli`, which is on unless `default-features = false` is said.
//!
//! # Commands
//!
//! A group is a namespace, a tool a subcommand of it by its name in kebab-case, without the group's own word:
//! `read_file` and `file_read` in group `file` are both `file read`, and so is `read_files`. A tool without a group is on top.
//! Two tools of one command are an error that names both, and so is a group or an ungrouped tool that would be
//! `tools`, `policy`, `completions` or `help`.
//!
//! | a key of the input | on the command line |
//! | --- | --- |
//! | a number or text that must be given, or `positional` | a place, in the order of declaration, or a flag; what may be left out comes last |
//! | all else | a flag in kebab-case, with `short` a letter too |
//! | `bool` | `--flag`, and `--no-flag` to say no |
//! | a list of numbers or texts | a flag that is repeated; as a place, the rest of the line |
//! | any other list, an object, what may be of several types | one JSON value; what is no JSON is a text |
//! | a `secret` number or text | a flag, `--flag-env VARIABLE` or `--flag-stdin` |
//!
//! A value that begins with `-` is written after `=` or `--`; a number below zero needs neither. Every tool has
//! `--json TEXT` for the whole input, where `-` is standard input and `@FILE` a file, `--output json` or `text`,
//! `--dry-run`, `--yes` and `--help`; a key that would be such a flag has `arg-` before its name. The program has `--version`,
//! that of the package with the tools.
//!
//! The values go to the tool as JSON, the same way as a model's and with the same words when they are wrong; only
//! an unknown flag or a missing place is reported in the words of the command line.
//!
//! # Approval
//!
//! A call that a person has to approve is asked about at the terminal, unless the application has an approver or a journal of
//! its own. `--yes` approves the call that is typed beforehand; the calls that it makes are asked about. Where standard input or
//! standard error is no terminal, nothing is asked, and the command ends with exit code 3. [`command`] has no `--yes`: there the
//! application decides who is asked.
//!
//! # Policy
//!
//! `policy check [FILE]` shows the application's policy, or the one in FILE: its mode, roots, protections and rules; or tells
//! all that is wrong with it. `policy explain TOOL [ARGUMENTS]` tells what becomes of a call and why, and `policy test
//! CASES` tries calls with expectations. No tool runs. `--policy FILE` takes the place of the application's policy for that
//! command.
//!
//! # Output
//!
//! Results go to standard output and nothing else does: JSON, or with `--output text` what people rather read (a
//! text without quotes, a list an item a line, an object a key a line; control characters and invisible characters
//! are written as escapes). Words and questions for people go to standard error, and `NO_COLOR` is heeded. Standard output that
//! cannot be written is an error; one that was closed before the program began looks like one that goes to
//! `/dev/null`.
//!
//! | exit code | meaning |
//! | --- | --- |
//! | 0 | there is a result; for `policy test`, every case holds; also when who reads the result has had enough |
//! | 1 | the tool failed; a file could not be read; a tool is refused by a dialect; nothing was found; a case does not hold |
//! | 2 | the command line or the input is wrong, or the policy or the cases that `policy` reads |
//! | 3 | a person must approve the call first; nothing ran |
//! | 70 | the application itself is put together wrongly |
//! | 130, 143 | the call was given up at an interrupt or a request to terminate; a second one ends the program at once |

pub use toolwright_cli::cli::{
    CommandError, CommandProblem, Exit, NamedTool, command, main, main_with, run, run_in,
};
