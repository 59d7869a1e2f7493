//! Suggests commands for an unknown word.

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::names::{Words, kebab};
use toolwright_core::near::near;
use toolwright_core::tool::Definition;

/// Adds the commands that were probably meant to an error about an unknown command. clap itself compares only the
/// commands of one level, and does not know the names of tools.
pub(super) fn suggest<'a>(
    mut error: Error,
    definitions: impl Iterator<Item = &'a Definition>,
) -> Error {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return error;
    }
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let known: Vec<KnownWords> = definitions.map(KnownWords::of).collect();
    let typed = kebab(typed);
    let mut meant: Vec<&KnownWords> = known.iter().filter(|it| it.is_called(&typed)).collect();
    if meant.is_empty() && error.get(ContextKind::SuggestedSubcommand).is_none() {
        let names = near(&typed, known.iter().flat_map(KnownWords::names));
        meant = known.iter().filter(|it| it.names().any(|name| names.contains(&name))).collect();
    }
    let mut commands: Vec<String> = meant.iter().map(|it| it.words.to_string()).collect();
    commands.truncate(MOST);
    if !commands.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(commands));
    }
    error
}

/// How many commands are suggested.
const MOST: usize = 3;

/// The command of a tool, with the words that describe the tool.
struct KnownWords {
    name: String,
    words: Words,
}

impl KnownWords {
    fn of(definition: &Definition) -> Self {
        Self { name: kebab(&definition.name), words: Words::of(definition) }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        [self.name.as_str(), self.words.tool.as_str()].into_iter()
    }

    fn is_called(&self, typed: &str) -> bool {
        self.names().any(|name| name == typed)
    }
}
