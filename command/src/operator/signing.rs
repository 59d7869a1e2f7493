//! The option `--key`, and the key that it names.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, value_parser};
use toolwright::approval::ApproverKey;

use super::Stop;

const KEY: &str = "key";

pub(crate) fn option() -> Arg {
    Arg::new(KEY)
        .long("key")
        .display_order(100)
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help("The key to sign with, made by `toolwright keys new` [env: TOOLWRIGHT_KEY]")
}

/// The key to sign with.
pub(crate) fn key(matches: &ArgMatches) -> Result<ApproverKey, Stop> {
    let named = matches.get_one::<PathBuf>(KEY).cloned();
    let variable = || env::var_os("TOOLWRIGHT_KEY").filter(|name: &OsString| !name.is_empty());
    let Some(path) = named.or_else(|| variable().map(PathBuf::from)) else {
        return Err(Stop::usage(
            "no key to sign with is named: give --key FILE, or set TOOLWRIGHT_KEY; `toolwright keys new` makes one",
        ));
    };
    Ok(ApproverKey::load(path)?)
}
