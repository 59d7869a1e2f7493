//! The option `--key`, and loading the key that it names.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, value_parser};
use toolwright::approval::ApproverKey;
use toolwright::unstable::approval::UserKeys;

use super::Stop;
use crate::keys::place;

const KEY: &str = "key";

pub(crate) fn option() -> Arg {
    Arg::new(KEY)
        .long("key")
        .display_order(100)
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help("The key to sign with, made by `toolwright keys new` [env: TOOLWRIGHT_KEY] [default: the one key in toolwright/keys]")
}

/// Loads the key that signs the decision.
pub(crate) fn key(matches: &ArgMatches) -> Result<ApproverKey, Stop> {
    let named = matches.get_one::<PathBuf>(KEY).cloned();
    let path = match named.or_else(UserKeys::of_variable) {
        Some(path) => path,
        None => place::only()?,
    };
    Ok(ApproverKey::load(path)?)
}
