//! `keys`: makes and shows the keys with which people sign decisions.

pub(crate) mod place;

use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde::Serialize;
use toolwright::approval::ApproverKey;
use toolwright::unstable::approval::UserKeys;

use crate::operator::{Stop, session};
use crate::shown::printable;
use crate::{Exit, complain, tell};

pub(crate) const NAME: &str = "keys";

const WHO: &str = "name";
const OUT: &str = "out";
const ANYWAY: &str = "anyway";
const FILE: &str = "file";

const AFTER_HELP: &str = "\
Only keys count whose public half the application names to its builder. Whoever reads the file can decide in \
your name: it lies where no agent works. Decisions are signed with the key that --key or TOOLWRIGHT_KEY names, \
else with the one key in toolwright/keys.

With --json, both write {\"name\", \"public\", \"file\", \"enrol\"}.

Exit code: 0 done; 1 the result could not be written; 2 the command line is wrong; 5 the key cannot be made or \
read, or would lie in a git work tree.";

pub(crate) fn command() -> Command {
    let new =
        Command::new("new").about("Make a key; an existing file is never overwritten").args([
            Arg::new(WHO)
                .long("name")
                .value_name("NAME")
                .required(true)
                .help("The name of its owner, such as ada"),
            Arg::new(OUT).long("out").value_name("FILE").value_parser(value_parser!(PathBuf)).help(
                "The file [default: the one that TOOLWRIGHT_KEY names if it does not exist, else toolwright/keys/NAME.key in $XDG_CONFIG_HOME or ~/.config]",
            ),
            Arg::new(ANYWAY)
                .long("anyway")
                .action(ArgAction::SetTrue)
                .help("Allow a git work tree, where agents may read the key"),
        ]);
    let file = Arg::new(FILE)
        .value_name("FILE")
        .required(true)
        .value_parser(value_parser!(PathBuf))
        .help("The key's file");
    let show = Command::new("show").about("Show the name and the public half of a key").arg(file);
    Command::new(NAME)
        .about("Make and show the keys that decisions are signed with")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(session::json())
        .subcommands([new, show])
        .after_help(AFTER_HELP)
}

pub(crate) fn run(matches: &ArgMatches) -> Exit {
    let done = match matches.subcommand() {
        Some(("new", matches)) => new(matches),
        Some(("show", matches)) => show(matches),
        _ => return complain(Exit::Usage, "no such command"),
    };
    done.map_or_else(Stop::report, |()| Exit::Success)
}

/// A key as the command prints it.
#[derive(Serialize)]
struct KeyRow<'a> {
    name: &'a str,
    public: String,
    file: String,
    /// The line of code that trusts this key in the application's builder. The JSON key is `enrol`, the documented
    /// name.
    #[serde(rename = "enrol")]
    trust: String,
}

fn new(matches: &ArgMatches) -> Result<(), Stop> {
    let name = matches.get_one::<String>(WHO).map_or("", String::as_str);
    let key = ApproverKey::generate(name)?;
    let (file, folder) = match (matches.get_one::<PathBuf>(OUT), UserKeys::of_variable()) {
        (Some(file), _) => (file.clone(), None),
        (None, Some(file)) if !file.exists() => (file, None),
        (None, other) => {
            if let Some(other) = other {
                let words = format!(
                    "decisions are signed with {}, which TOOLWRIGHT_KEY names, and not with the new key",
                    other.display()
                );
                tell("note", printable::line(&words));
            }
            let keys = UserKeys::find()?;
            (keys.file(name)?, Some(keys))
        }
    };
    if let Some(tree) = UserKeys::work_tree(&file) {
        let words = format!(
            "{} lies in the git work tree {}, where agents may work: an agent that reads the key can approve",
            file.display(),
            tree.display()
        );
        if !matches.get_flag(ANYWAY) {
            return Err(Stop::new(
                Exit::Key,
                format!("{words}. Name a file elsewhere, or say --anyway"),
            ));
        }
        tell("warning", printable::line(&words));
    }
    if let Some(keys) = folder {
        keys.make_folder()?;
    }
    key.save(&file)?;
    write(matches, &key, &file)
}

fn show(matches: &ArgMatches) -> Result<(), Stop> {
    let file = matches.get_one::<PathBuf>(FILE).map_or(Path::new(""), PathBuf::as_path);
    write(matches, &ApproverKey::load(file)?, file)
}

fn write(matches: &ArgMatches, key: &ApproverKey, file: &Path) -> Result<(), Stop> {
    let (name, public) = (key.name(), key.public().to_string());
    let trust = format!(".trust({name:?}, {public:?}.parse()?)");
    let shown = KeyRow { name, public, file: file.display().to_string(), trust };
    session::output(matches).write(&shown, || {
        let KeyRow { name, public, file, trust } = &shown;
        let (name, file) = (printable::line(name), printable::line(file));
        format!("name    {name}\npublic  {public}\nfile    {file}\ntrust   {trust}\n")
    })
}
