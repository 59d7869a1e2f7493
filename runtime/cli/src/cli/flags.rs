//! The keys of a tool's input as positional arguments and flags, and the flags that every tool has.

use std::collections::HashSet;

use clap::{Arg, ArgAction, ArgMatches, Command, Id, ValueHint};

use super::field::{self, Field, Item, Shape};
use super::help;
use super::names::kebab;
use toolwright_core::tool::Definition;

/// The id of the option for the whole input. It begins with a NUL character, as the ids below do, so that it differs
/// from every key of an input.
pub(super) const WHOLE: &str = "\0json";
pub(super) const OUTPUT: &str = "\0output";
pub(super) const DRY_RUN: &str = "\0dry-run";
const YES: &str = "\0yes";

const HELP: &str = "\0help";

/// The names of the flags that tools have in common, which a tool's own flags may not have.
const COMMON: [&str; 5] = ["json", "output", "dry-run", "yes", "help"];

/// The heading above the flags that every tool has.
const COMMON_HEADING: &str = "Common options";

/// The format of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Text,
}

/// Returns the flag of a key, without dashes: the name of the key in kebab-case, with the prefix `arg-` if every tool
/// has a flag with that name. The flag is empty if the name has no letter or digit; such a key can only be given by
/// `--json`.
pub(super) fn flag(field: &Field<'_>) -> String {
    let flag = kebab(field.key);
    if COMMON.contains(&flag.as_str()) { format!("arg-{flag}") } else { flag }
}

/// Returns the id of another argument for the same key: the opposite of a switch, the flag of a positional argument,
/// the variable or the stream of a secret.
pub(super) fn id(field: &Field<'_>, other: &str) -> Id {
    Id::from(format!("\0{other} {}", field.key))
}

/// Whether a value is a secret that can be read from a variable or from standard input. Only a text or a number can.
pub(super) fn is_kept_away(field: &Field<'_>) -> bool {
    field.secret && matches!(field.shape, Shape::Text | Shape::Number)
}

/// Adds the arguments of a tool: its positional arguments, its flags, then the flags that every tool has. With
/// `takes_yes`, `--yes` is one of them.
pub(super) fn add_to(command: Command, definition: &Definition, takes_yes: bool) -> Command {
    let fields: Vec<Field<'_>> = field::of(definition);
    let flags: HashSet<String> = fields.iter().map(flag).collect();
    let (mut places, others): (Vec<_>, Vec<_>) =
        fields.iter().filter(|it| !flag(it).is_empty()).partition(|it| it.is_positional());
    // Optional arguments come after required ones, and a repeated argument comes last.
    places.sort_by_key(|it| (matches!(it.shape, Shape::List(_)), !it.required));
    // Only one positional argument can be repeated.
    let lists = places.iter().filter(|it| matches!(it.shape, Shape::List(_))).count();
    let others: Vec<_> = places
        .split_off(places.len() - lists.saturating_sub(1))
        .into_iter()
        .chain(others)
        .collect();
    let others: Vec<Arg> = others.into_iter().flat_map(|field| of_field(field, &flags)).collect();
    let mut taken: HashSet<&str> = others.iter().filter_map(Arg::get_long).collect();
    taken.extend(COMMON);
    let mut arguments: Vec<Arg> =
        places.iter().flat_map(|it| place(it, is_only(it, &places, &taken))).collect();
    arguments.extend(others);
    let typed: Vec<Id> = arguments.iter().map(|it| it.get_id().clone()).collect();
    let only: String = fields
        .iter()
        .filter(|it| flag(it).is_empty())
        .map(|it| format!("; the only way to give `{}`", it.key))
        .collect();
    let whole = whole(&only).conflicts_with_all(typed);
    command.args(arguments).arg(whole).args(common(takes_yes))
}

/// Whether the flag of a positional argument would differ from the flags of the other positional arguments and from the
/// names that are taken.
fn is_only(place: &Field<'_>, places: &[&Field<'_>], taken: &HashSet<&str>) -> bool {
    let name = flag(place);
    let with_that_name = places.iter().filter(|it| flag(it) == name).count();
    with_that_name == 1 && !taken.contains(name.as_str())
}

/// Makes a positional argument, and also a flag for people who prefer to name it.
fn place(field: &Field<'_>, has_flag: bool) -> Vec<Arg> {
    let is_list = matches!(field.shape, Shape::List(_));
    let flag = has_flag.then(|| flag(field));
    let of_name =
        |argument: Arg| argument.value_name(kebab(field.key).to_uppercase().replace('-', "_"));
    let place = of_name(make_flag(field, flag.as_deref())).required(field.required);
    let place = if is_list { place.num_args(1..) } else { place };
    let Some(flag) = flag else { return vec![place] };
    let flag = of_name(make_flag(field, None)).id(id(field, "flag")).long(flag).hide(true);
    let flag = if is_list { flag.action(ArgAction::Append) } else { flag };
    vec![place, flag.conflicts_with(field.key.to_owned())]
}

fn of_field(field: &Field<'_>, taken: &HashSet<String>) -> Vec<Arg> {
    let flag = flag(field);
    let free = |flag: &String| !taken.contains(flag) && !COMMON.contains(&flag.as_str());
    let aliases: Vec<String> = field.aliases.iter().map(|it| kebab(it)).filter(free).collect();
    let mut argument = make_flag(field, None).long(flag.clone()).aliases(aliases);
    if let Some(letter) = field.short {
        argument = argument.short(letter);
    }
    match field.shape {
        Shape::Switch => {
            let opposite = Some(format!("no-{flag}")).filter(free);
            switch(field, argument, &flag, opposite)
        }
        Shape::List(_) => vec![argument.action(ArgAction::Append).required(field.required)],
        _ if is_kept_away(field) => secret(field, argument, &flag),
        _ => vec![argument.required(field.required)],
    }
}

/// Makes the flags of a boolean: one for true, and one for false if its name is free. The help does not show the flag
/// for false if false is the default.
fn switch(field: &Field<'_>, yes: Arg, flag: &str, opposite: Option<String>) -> Vec<Arg> {
    let yes = yes.action(ArgAction::SetTrue);
    let Some(opposite) = opposite else {
        return vec![yes.required(field.required)];
    };
    let is_off = field.default() == Some(&false.into());
    let id = id(field, "no");
    let no = Arg::new(id.clone())
        .long(opposite)
        .action(ArgAction::SetTrue)
        .overrides_with(field.key.to_owned())
        .hide(is_off)
        .help(format!("The opposite of --{flag}"));
    let yes = yes.overrides_with(id.clone());
    vec![
        if field.required { yes.required_unless_present_any([id, Id::from(WHOLE)]) } else { yes },
        no,
    ]
}

/// Makes the arguments of a secret, which can also be read from a variable or from standard input: a typed secret stays
/// in the shell's history and is visible in the list of processes.
fn secret(field: &Field<'_>, typed: Arg, flag: &str) -> Vec<Arg> {
    let (variable, stream) = (id(field, "env"), id(field, "stdin"));
    let typed = typed.conflicts_with_all([variable.clone(), stream.clone()]);
    let typed = if field.required {
        typed.required_unless_present_any([variable.clone(), stream.clone(), Id::from(WHOLE)])
    } else {
        typed
    };
    let from_variable = Arg::new(variable)
        .long(format!("{flag}-env"))
        .value_name("VARIABLE")
        .conflicts_with(stream.clone())
        .help(format!("Read --{flag} from an environment variable, which no shell keeps"));
    let from_stream = Arg::new(stream)
        .long(format!("{flag}-stdin"))
        .action(ArgAction::SetTrue)
        .help(format!("Read --{flag} from standard input, without its last line break"));
    vec![typed, from_variable, from_stream]
}

/// Makes an argument with its help; `also` is the flag of a positional argument.
fn make_flag(field: &Field<'_>, also: Option<&str>) -> Arg {
    let is_number = matches!(field.shape, Shape::Number | Shape::List(Item::Number));
    let placeholder = match field.shape {
        Shape::Switch => "BOOL",
        Shape::Json => "JSON",
        _ if !field.choices.is_empty() => "CHOICE",
        _ if is_number => "NUMBER",
        _ => "TEXT",
    };
    Arg::new(field.key.to_owned())
        .value_name(placeholder)
        .help(help::short(field, also))
        .long_help(help::long(field, also))
        // A negative number is a value, not a flag.
        .allow_negative_numbers(is_number)
}

fn whole(only: &str) -> Arg {
    Arg::new(WHOLE)
        .long("json")
        .value_name("JSON")
        .value_hint(ValueHint::Other)
        .help(format!("The whole input as JSON; `-` reads standard input, `@FILE` a file{only}"))
        .help_heading(COMMON_HEADING)
}

fn common(takes_yes: bool) -> impl Iterator<Item = Arg> {
    let dry_run = Arg::new(DRY_RUN)
        .long("dry-run")
        .action(ArgAction::SetTrue)
        .help("Show what would run, and run nothing")
        .help_heading(COMMON_HEADING);
    let help = help()
        .help("Print help; --help tells more")
        .long_help("Print help; -h tells less")
        .help_heading(COMMON_HEADING);
    let first = [output("json").help_heading(COMMON_HEADING), dry_run];
    first.into_iter().chain(takes_yes.then(yes)).chain([help])
}

fn yes() -> Arg {
    Arg::new(YES)
        .long("yes")
        .action(ArgAction::SetTrue)
        .help("Approve this call, so that it runs without a question")
        .help_heading(COMMON_HEADING)
}

/// Whether the innermost command that a person typed has the flag `--yes`.
pub(super) fn is_approved(matches: &ArgMatches) -> bool {
    match matches.subcommand() {
        Some((_, below)) => is_approved(below),
        None => matches!(matches.try_get_one(YES), Ok(Some(true))),
    }
}

/// Makes the option `--output`, for every command that has a result.
pub(super) fn output(default: &'static str) -> Arg {
    Arg::new(OUTPUT)
        .long("output")
        .value_name("FORM")
        .value_parser(["json", "text"])
        .default_value(default)
        .hide_possible_values(true)
        .hide_default_value(true)
        .help(format!("`json` for programs or `text` for people [default: {default}]"))
}

/// Makes the flag `--help`, for commands that choose its position in their help.
pub(super) fn help() -> Arg {
    Arg::new(HELP).short('h').long("help").action(ArgAction::Help).help("Print help")
}

/// Returns the format that `--output` names.
pub(super) fn form(matches: &ArgMatches) -> Form {
    match matches.get_one::<String>(OUTPUT).map(String::as_str) {
        Some("text") => Form::Text,
        _ => Form::Json,
    }
}
