//! The option `--journal`, and opening the journal that it names.

use std::env;
use std::sync::Arc;

use clap::{Arg, ArgMatches};
use toolwright::journal::{SqliteStore, Store};

use super::Stop;

const JOURNAL: &str = "journal";
const VARIABLE: &str = "TOOLWRIGHT_JOURNAL";
const SQLITE: &str = "sqlite:";

pub(crate) fn option() -> Arg {
    Arg::new(JOURNAL)
        .long("journal")
        .value_name("sqlite:PATH")
        .global(true)
        .display_order(101)
        .help("The journal to work on [env: TOOLWRIGHT_JOURNAL]")
}

/// Opens the journal that the option or the environment variable names. A missing journal is an error: no command
/// creates one.
pub(crate) async fn open(matches: &ArgMatches) -> Result<Arc<dyn Store>, Stop> {
    let (name, from) = match matches.get_one::<String>(JOURNAL) {
        Some(name) => (name.clone(), "--journal"),
        None => match env::var(VARIABLE) {
            Ok(name) => (name, VARIABLE),
            Err(env::VarError::NotPresent) => {
                return Err(Stop::usage(
                    "no journal is named: give --journal sqlite:PATH, or set TOOLWRIGHT_JOURNAL to sqlite:PATH",
                ));
            }
            Err(env::VarError::NotUnicode(_)) => {
                return Err(Stop::usage(format!("{VARIABLE} is not text in UTF-8")));
            }
        },
    };
    let Some(path) = name.strip_prefix(SQLITE).filter(|path| !path.is_empty()) else {
        return Err(Stop::usage(format!(
            "{from} names no journal: found {name:?}, expected sqlite:PATH, such as sqlite:/var/lib/agents/calls.db"
        )));
    };
    Ok(Arc::new(SqliteStore::open_existing(path).await?))
}
