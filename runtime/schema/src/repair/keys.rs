//! Finds keys of an object that were meant as other keys: other spellings, aliases and typing errors.
//!
//! - A key is renamed only if the schema refuses the key, or if the new key is required and missing.
//! - A key is renamed only if no other key has the same new name, and never to a key that the object already has.

use std::collections::{HashMap, HashSet};

use super::shape::Shape;
use super::words::{self, Spellings};
use toolwright_core::json::tree::Node;
use toolwright_core::repairs::ChangeRule;

/// The aliases of a tool's parameters.
#[derive(Debug, Default)]
pub(super) struct Aliases {
    names: HashMap<String, String>,
    spellings: Spellings,
}

impl Aliases {
    pub(super) fn new<'a>(aliases: impl Iterator<Item = (&'a str, &'a [&'a str])>) -> Self {
        let mut names = HashMap::new();
        for (name, others) in aliases {
            for other in others {
                names.insert((*other).to_owned(), name.to_owned());
            }
        }
        let spellings = Spellings::of(names.keys().map(String::as_str));
        Self { names, spellings }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    fn find(&self, key: &str) -> Option<&str> {
        let alias = if self.names.contains_key(key) { key } else { self.spellings.find(key)? };
        self.names.get(alias).map(String::as_str)
    }
}

/// A correction of a misspelt key to a key of the schema.
pub(super) struct Rename {
    pub(super) index: usize,
    pub(super) to: String,
    pub(super) rule: ChangeRule,
}

/// Finds the renames of keys that make an object fit its shape better. When `typos`, the remaining number of letter
/// comparisons, reaches 0, typing errors are no longer looked for.
pub(super) fn renames(
    entries: &[(String, Node)],
    shape: &Shape,
    spellings: &Spellings,
    aliases: Option<&Aliases>,
    mut typos: Option<&mut usize>,
) -> Vec<Rename> {
    let known = |key: &str| shape.properties.contains_key(key);
    if entries.iter().all(|(key, _)| known(key)) || shape.properties.is_empty() {
        return Vec::new();
    }
    let present: HashSet<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
    // An object that allows unknown keys accepts the key as it is, so only a missing required key can have been meant.
    let is_wanted =
        |key: &str| !present.contains(key) && (shape.closed || shape.required.contains(key));
    let unknown = entries.iter().filter(|(key, _)| !known(key)).count();
    let many = unknown > shape.properties.len() + 8;
    let mut found: Vec<Rename> = Vec::new();
    for (index, (key, _)) in entries.iter().enumerate() {
        if known(key) || key.len() > 2 * words::LONGEST {
            continue;
        }
        let spelt = || Some((spellings.find(key)?, ChangeRule::KeySpelling));
        let alias = || Some((aliases?.find(key)?, ChangeRule::Alias));
        let typo = || {
            let missing = shape.properties.keys().map(String::as_str).filter(|it| is_wanted(it));
            let left = typos.as_deref_mut().filter(|_| !many)?;
            let close = words::typo_of(key, missing, left)?;
            Some((close, ChangeRule::KeyTypo))
        };
        if let Some((to, rule)) = spelt().or_else(alias).or_else(typo)
            && is_wanted(to)
            && known(to)
        {
            found.push(Rename { index, to: to.to_owned(), rule });
        }
    }
    let mut claims: HashMap<String, usize> = HashMap::new();
    for rename in &found {
        *claims.entry(rename.to.clone()).or_default() += 1;
    }
    found.retain(|rename| claims.get(&rename.to) == Some(&1));
    found
}
