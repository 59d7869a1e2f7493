//! Finds the arguments of a program that are not flags, and those that name its subcommand.

use crate::shell::flags::is_flag;
use crate::shell::table::{Program, Subcommand};

/// Returns the arguments that are neither flags nor values of flags.
pub(in crate::shell) fn places<'c>(
    entry: &Program,
    arguments: &[Option<&'c str>],
) -> Vec<Option<&'c str>> {
    let (mut places, mut ended) = (Vec::new(), false);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match *argument {
            Some("--") if !ended => ended = true,
            Some(flag) if !ended && is_flag(flag) => {
                if entry.value_flags.iter().any(|it| it == flag) {
                    rest.next();
                }
            }
            other => places.push(other),
        }
    }
    places
}

/// Finds the subcommand, and how many words its name has.
pub(super) fn subcommand<'e>(
    entry: &'e Program,
    places: &[Option<&str>],
) -> Option<(usize, &'e Subcommand)> {
    // In `cargo +nightly test`, this word selects the release of the program.
    let is_release = |it: &Option<&str>| it.is_some_and(|it| it.starts_with('+'));
    let places = &places[usize::from(places.first().is_some_and(is_release))..];
    let begins = |name: &str| {
        let mut length = 0;
        let is_there = name.split(' ').all(|word| {
            length += 1;
            places.get(length - 1) == Some(&Some(word))
        });
        is_there.then_some(length)
    };
    let found = entry.subcommands.iter().filter_map(|sub| {
        let length = sub.names.iter().filter_map(|it| begins(it)).max()?;
        Some((length, sub))
    });
    found.max_by_key(|(length, _)| *length)
}
