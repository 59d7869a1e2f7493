//! `mcp install NAME --file FILE`: writes the entry of an MCP server into another application's configuration file.

mod entry;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use self::entry::Server;
use crate::shown::printable;
use crate::{Exit, complain, tell};

pub(crate) const NAME: &str = "mcp";

const INSTALL: &str = "install";
const SERVER: &str = "name";
const FILE: &str = "file";
const URL: &str = "url";
const ENV: &str = "env";
const REPLACE: &str = "replace";
const DRY_RUN: &str = "dry-run";
const COMMAND: &str = "command";

const AFTER_HELP: &str = "\
The file is one in which Claude Desktop, Claude Code, Cursor, Cline (`mcpServers`) or VS Code (`servers`) names its servers; it is \
made where there is none. Whatever else is in it stays as it is. A file that cannot be read as JSON, comments included, is left \
alone. A program with a relative path is written with its whole path.

Examples:
  toolwright mcp install notes --file ~/.cursor/mcp.json -- ./target/release/notes mcp serve
  toolwright mcp install far --file .vscode/mcp.json --url https://tools.example/mcp --dry-run

Exit code: 0 the entry is there; 1 the file cannot be read, used or written; 2 the command line is wrong.";

pub(crate) fn command() -> Command {
    let name = Arg::new(SERVER).value_name("NAME").required(true).help("The name of the server");
    let file = Arg::new(FILE)
        .long(FILE)
        .value_name("FILE")
        .required(true)
        .value_parser(value_parser!(PathBuf))
        .help("The file of the other application");
    let url = Arg::new(URL)
        .long(URL)
        .value_name("URL")
        .help("The URL of the server, instead of a program");
    let env = Arg::new(ENV)
        .long(ENV)
        .value_name("NAME=VALUE")
        .action(ArgAction::Append)
        .conflicts_with(URL)
        .help("An environment variable of the program");
    let replace = Arg::new(REPLACE)
        .long(REPLACE)
        .action(ArgAction::SetTrue)
        .help("Replace another server of this name");
    let dry_run = Arg::new(DRY_RUN)
        .long(DRY_RUN)
        .action(ArgAction::SetTrue)
        .help("Print what would be written, and write nothing");
    let program = Arg::new(COMMAND)
        .value_name("PROGRAM")
        .num_args(1..)
        .last(true)
        .required_unless_present(URL)
        .conflicts_with(URL)
        .help("The program of the server, and its arguments");
    let install = Command::new(INSTALL)
        .about("Write the entry of a server into the file of another application")
        .args([name, file, url, env, replace, dry_run, program])
        .after_help(AFTER_HELP);
    Command::new(NAME)
        .about("Add MCP servers to the configuration of other applications")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(install)
}

pub(crate) fn run(matches: &ArgMatches) -> Exit {
    let Some((INSTALL, matches)) = matches.subcommand() else {
        return complain(Exit::Usage, "no such command");
    };
    let (Some(name), Some(file)) =
        (matches.get_one::<String>(SERVER), matches.get_one::<PathBuf>(FILE))
    else {
        return complain(Exit::Usage, "a name and a file are needed");
    };
    let server = match server(matches) {
        Ok(server) => server,
        Err(error) => return complain(Exit::Usage, printable::lines(&error)),
    };
    match install(file, name, &server, matches.get_flag(REPLACE), matches.get_flag(DRY_RUN)) {
        Ok(said) => {
            tell("note", printable::line(&said));
            Exit::Success
        }
        Err(error) => {
            complain(Exit::Failed, printable::lines(&format!("{}: {error}", file.display())))
        }
    }
}

/// Builds the entry from the options of the command line.
fn server(matches: &ArgMatches) -> Result<Server, String> {
    let mut env = serde_json::Map::new();
    for variable in matches.get_many::<String>(ENV).unwrap_or_default() {
        let Some((name, value)) = variable.split_once('=').filter(|(name, _)| !name.is_empty())
        else {
            return Err(format!("the variable is `{variable}`, expected NAME=VALUE"));
        };
        env.insert(name.to_owned(), value.into());
    }
    let mut words = matches.get_many::<String>(COMMAND).unwrap_or_default().cloned();
    let command = words.next().map(whole_path).transpose();
    let command = command.map_err(|error| format!("the current folder is not known: {error}"))?;
    let url = matches.get_one::<String>(URL).cloned();
    Ok(Server { command, args: words.collect(), env, url })
}

/// Makes the program's path absolute, since the other application starts the program in another folder. A bare name
/// stays unchanged: the other application searches its `PATH` for it.
fn whole_path(program: String) -> io::Result<String> {
    if !program.contains(std::path::is_separator) {
        return Ok(program);
    }
    Ok(std::path::absolute(&program)?.display().to_string())
}

/// Writes the entry, and describes for people what was changed.
fn install(
    file: &Path,
    name: &str,
    server: &Server,
    replaces: bool,
    is_dry: bool,
) -> Result<String, String> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error.to_string()),
    };
    let entry = serde_json::to_string_pretty(server).map_err(|error| error.to_string())?;
    let entry = entry.replace('\n', "\n    ");
    let key = entry::expected_key(file);
    let whole = entry::put(&text, key, name, &entry, replaces).map_err(|why| why.to_string())?;
    let Some(whole) = whole else {
        return Ok(format!("`{name}` is in {} already", file.display()));
    };
    if is_dry {
        let mut output = io::stdout().lock();
        let printed = output.write_all(whole.as_bytes()).and_then(|()| output.flush());
        printed.map_err(|error| format!("standard output: {error}"))?;
        return Ok("nothing was written".to_owned());
    }
    write(file, &text, &whole).map_err(|error| error.to_string())?;
    Ok(format!("`{name}` is in {}", file.display()))
}

/// Replaces the file atomically, so that another application reads either the old text or the new one. Follows a
/// symbolic link, and refuses a file that has changed since this command read it.
fn write(file: &Path, earlier: &str, text: &str) -> io::Result<()> {
    let file = match fs::canonicalize(file) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound && file.is_symlink() => {
            let why =
                "it is a link to a file that is not there: create that file, or remove the link";
            return Err(io::Error::new(error.kind(), why));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => file.to_owned(),
        Err(error) => return Err(error),
    };
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = file.with_file_name(name);
    // Opening fails if the temporary file exists. That file then belongs to another process, so it is not deleted.
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    // The file may hold secrets, so only its owner may read a new one. An earlier file's permissions are copied below.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut to = options.open(&new)?;
    let written = (|| {
        if let Ok(earlier) = fs::metadata(&file) {
            to.set_permissions(earlier.permissions())?;
        }
        to.write_all(text.as_bytes())?;
        to.sync_all()?;
        if fs::read_to_string(&file).unwrap_or_default() != earlier {
            return Err(io::Error::other("it was changed meanwhile: run this again"));
        }
        fs::rename(&new, &file)
    })();
    if written.is_err() {
        // Report the error above, not one of the cleanup.
        let _ = fs::remove_file(&new);
    }
    written
}
