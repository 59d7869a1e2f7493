//! Turns typed arguments into the JSON text of the tool's input. Values are not checked here: a value of the wrong type
//! stays text, and the tool's own check reports it, as for a model.

use std::io::Read;

use clap::ArgMatches;
use clap::parser::ValueSource;
use serde_json::value::RawValue;

use super::field::{self, Field, Item, Shape};
use super::flags::{self, WHOLE};
use super::ordered::{object, text};
use toolwright_core::tool::Definition;

/// Makes the JSON text of the typed arguments.
pub(super) fn input(definition: &Definition, matches: &ArgMatches) -> Result<String, String> {
    if let Some(whole) = matches.get_one::<String>(WHOLE) {
        return self::whole(whole, "--json");
    }
    let fields = field::of(definition);
    let streams: Vec<String> = fields
        .iter()
        .filter(|it| flags::is_kept_away(it) && is_given(matches, flags::id(it, "stdin").as_str()))
        .map(|it| format!("`--{}-stdin`", flags::flag(it)))
        .collect();
    if streams.len() > 1 {
        return Err(format!("standard input can be read once, not by {}", streams.join(" and ")));
    }
    let mut entries = Vec::new();
    for field in fields.iter().filter(|it| !flags::flag(it).is_empty()) {
        if let Some(json) = value(field, matches)? {
            entries.push((field.key, json));
        }
    }
    Ok(object(entries))
}

/// Reads a whole input: from the argument itself, from standard input for `-`, or from a file for `@FILE`.
pub(super) fn whole(given: &str, name: &str) -> Result<String, String> {
    match given.strip_prefix('@') {
        Some(file) => std::fs::read_to_string(file)
            .map_err(|error| format!("the file `{file}` of `{name}` cannot be read: {error}")),
        None if given == "-" => standard_input(),
        None => Ok(given.to_owned()),
    }
}

/// Returns the JSON of a key's value; `None` if the key was not given.
fn value(field: &Field<'_>, matches: &ArgMatches) -> Result<Option<String>, String> {
    if flags::is_kept_away(field)
        && let Some(secret) = secret(field, matches)?
    {
        return Ok(Some(word(field.shape, &secret)));
    }
    if field.shape == Shape::Switch {
        let no = flags::id(field, "no");
        let is_no = matches.try_contains_id(no.as_str()).is_ok() && is_given(matches, no.as_str());
        let said = is_given(matches, field.key).then_some("true");
        return Ok(said.or(is_no.then_some("false")).map(str::to_owned));
    }
    let flag = flags::id(field, "flag");
    let by_flag = matches.try_get_many::<String>(flag.as_str()).ok().flatten();
    let Some(typed) = by_flag.or_else(|| matches.get_many(field.key)) else { return Ok(None) };
    let items: Vec<String> = typed.map(|typed| word(field.shape, typed)).collect();
    Ok(Some(match field.shape {
        Shape::List(_) => format!("[{}]", items.join(",")),
        _ => items.concat(),
    }))
}

/// Converts a typed word to JSON. A number keeps its digits.
fn word(shape: Shape, typed: &str) -> String {
    let is_json = || serde_json::from_str::<&RawValue>(typed).is_ok_and(|it| it.get() == typed);
    let is_number = || typed.starts_with(|it: char| it == '-' || it.is_ascii_digit());
    let as_it_is = match shape {
        Shape::Switch | Shape::Text | Shape::List(Item::Text) => false,
        Shape::Number | Shape::List(Item::Number) => is_number() && is_json(),
        Shape::Json => is_json(),
    };
    if as_it_is { typed.to_owned() } else { text(typed) }
}

/// Reads a secret from a variable or standard input, so that no shell history contains it.
fn secret(field: &Field<'_>, matches: &ArgMatches) -> Result<Option<String>, String> {
    if let Some(variable) = matches.get_one::<String>(flags::id(field, "env").as_str()) {
        return std::env::var(variable).map(Some).map_err(|error| {
            format!(
                "the environment variable `{variable}` of `--{}-env` cannot be read: {error}",
                flags::flag(field)
            )
        });
    }
    if !is_given(matches, flags::id(field, "stdin").as_str()) {
        return Ok(None);
    }
    let mut secret = standard_input()?;
    for ending in ['\n', '\r'] {
        if secret.ends_with(ending) {
            secret.pop();
        }
    }
    Ok(Some(secret))
}

/// Whether a person typed the argument. clap gives a switch a value even if it was not typed.
fn is_given(matches: &ArgMatches, id: &str) -> bool {
    matches.value_source(id) == Some(ValueSource::CommandLine)
}

fn standard_input() -> Result<String, String> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map(|_| text)
        .map_err(|error| format!("standard input cannot be read: {error}"))
}
