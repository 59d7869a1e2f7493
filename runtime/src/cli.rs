//! The command line of an application. It has a subcommand for each tool. In addition, `tools` describes the tools,
//! `policy` explains decisions on calls, and `completions` writes completion scripts for shells. Needs the feature
//! `cli`.
//!
//! # Commands
//!
//! A group is a namespace, and a tool is a subcommand of it. The tool's command is its name in kebab-case, without the
//! word of the group: `read_file` and `file_read` in group `file` are both `file read`, and so is `read_files`. A tool
//! without a group is at the top level. If two tools have the same command, the command line cannot be made, and the
//! error names both. Nor can it be made if a group or an ungrouped tool is called `tools`, `policy`, `completions` or
//! `help`.
//!
//! | a key of the input | on the command line |
//! | --- | --- |
//! | a number or text that must be given, or `positional` | a positional argument, in the order of declaration, or a flag; optional ones come last |
//! | any other key | a flag in kebab-case, with `short` a letter too |
//! | `bool` | `--flag`, and `--no-flag` for false |
//! | a list of numbers or texts | a flag that is repeated; as a positional argument, the rest of the line |
//! | any other list, an object, a value of several types | one JSON value; anything that is not JSON is a text |
//! | a `secret` number or text | a flag, `--flag-env VARIABLE` or `--flag-stdin` |
//!
//! A value that begins with `-` is written after `=` or `--`; a negative number needs neither. Every tool has
//! `--json TEXT` for the whole input, where `-` is standard input and `@FILE` a file, `--output json` or `text`,
//! `--dry-run`, `--yes` and `--help`; a key whose flag would be one of these gets the prefix `arg-`. The program has
//! `--version`, which prints the version of the package with the tools.
//!
//! The tool gets the values as JSON, as from a model, and reports wrong values with the same messages. The command line
//! itself reports only what it cannot turn into an input, such as an unknown flag or a missing argument.
//!
//! # Approval
//!
//! If a call needs approval, the person at the terminal is asked, unless the application has an approver or a journal
//! of its own. `--yes` approves the typed call in advance, but not the calls that it makes. If standard input or
//! standard error is no terminal, no person is asked, and the command ends with exit code 3. The commands of
//! [`command`] have no `--yes`, because the application decides who is asked.
//!
//! # Policy
//!
//! `policy check [FILE]` shows the mode, roots, protections and rules of the application's policy or of the one in
//! FILE, or all problems of the policy. `policy explain TOOL [ARGUMENTS]` explains the decision on a call.
//! `policy test CASES` compares decisions with expected ones. No tool runs. `--policy FILE` replaces the application's
//! policy for that command.
//!
//! # Output
//!
//! Standard output contains only results: JSON, or with `--output text` a form for people (a text without quotes, a
//! list with one item per line, an object with one key per line; control characters and invisible characters are
//! escaped). Messages and questions for people go to standard error, and `NO_COLOR` is respected. It is an error if
//! standard output cannot be written. A standard output that was closed before the program began behaves like
//! `/dev/null`.
//!
//! | exit code | meaning |
//! | --- | --- |
//! | 0 | there is a result; for `policy test`, every case holds; also if the reader of the result has stopped reading |
//! | 1 | the tool failed; the result could not be written; a tool is refused by a dialect; nothing was found; a case does not hold |
//! | 2 | the command line, the input or a file that it names is wrong or cannot be read |
//! | 3 | a person must approve the call first; nothing ran |
//! | 70 | the application itself is configured wrongly |
//! | 130, 143 | an interrupt or a request to terminate cancelled the call; a second one ends the program at once |

pub use toolwright_cli::cli::{
    CommandError, CommandProblem, Exit, NamedTool, command, main, main_with, run, run_in,
};
