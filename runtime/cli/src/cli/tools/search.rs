//! `tools search WORDS…`: lists the tools in which each given word is found, at least as the beginning of a word. The
//! best match comes first.

use clap::{Arg, ArgMatches, Command};

use super::list;
use crate::cli::Exit;
use crate::cli::flags;
use crate::cli::names::kebab;
use crate::cli::streams::complain;
use toolwright_core::tool::Definition;
use toolwright_executor::catalog::Catalog;

pub(super) const NAME: &str = "search";

const WORDS: &str = "words";

pub(super) fn command() -> Command {
    let words = Arg::new(WORDS)
        .value_name("WORD")
        .required(true)
        .num_args(1..)
        .help("Words, or how they begin, of a tool's name, group, tags or description");
    Command::new(NAME)
        .about("Find tools by words")
        .long_about(
            "Lists the tools in which each of the words is found, those first that are called so.",
        )
        .arg(words)
        .arg(flags::output("text"))
}

pub(super) fn run(catalog: &Catalog, matches: &ArgMatches) -> Result<(), Exit> {
    let wanted: Vec<String> =
        matches.get_many::<String>(WORDS).into_iter().flatten().flat_map(|it| words(it)).collect();
    let found = find(catalog.definitions(), &wanted);
    if found.is_empty() {
        let words = wanted.join(" ");
        return Err(complain(Exit::Failed, format!("no tool is found by `{words}`")));
    }
    list::lines(&found, flags::form(matches))
}

fn find<'a>(
    definitions: impl Iterator<Item = &'a Definition>,
    wanted: &[String],
) -> Vec<&'a Definition> {
    let mut found: Vec<(usize, &Definition)> = definitions
        .filter_map(|it| score(it, wanted).filter(|_| !wanted.is_empty()).map(|score| (score, it)))
        .collect();
    // Tools with equal scores keep their order.
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    found.into_iter().map(|(_, definition)| definition).collect()
}

/// Scores how well a tool matches: a name counts more than group and tags, and these more than the description; a whole
/// word counts more than its beginning. `None` if a word does not match.
fn score(definition: &Definition, wanted: &[String]) -> Option<usize> {
    let labels = definition.group.iter().chain(&definition.tags);
    let weighed = [
        (4, words(&definition.name)),
        (2, labels.flat_map(|it| words(it)).collect()),
        (0, words(&definition.description)),
    ];
    let of_word = |wanted: &String| {
        let each =
            weighed.iter().flat_map(|(weight, words)| words.iter().map(move |it| (weight, it)));
        let fitting = each.filter(|(_, word)| word.starts_with(wanted.as_str()));
        fitting.map(|(weight, word)| weight + 1 + usize::from(word == wanted)).max()
    };
    wanted.iter().map(of_word).sum()
}

fn words(text: &str) -> Vec<String> {
    kebab(text).split('-').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
