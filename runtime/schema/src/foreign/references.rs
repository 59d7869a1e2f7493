//! Resolves references, and determines which definitions depend on which.

mod effort;
mod places;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::report::Report;
use super::{keywords, limits};

pub(super) use effort::Efforts;
pub(super) use places::Places;

/// The maximum number of levels that a schema has through its references, as a generous estimate. The limit exists
/// because the validator recurses along references.
const DEEPEST: usize = 1_024;
/// The maximum number of schemas that examine one value. The limit exists because the validator examines a value again
/// for each reference that leads to a definition.
const HARDEST: usize = 1_000_000;

/// A document that was converted to the keywords of 2020-12. Its references lead into `definitions`.
pub(super) struct ConvertedSchema {
    pub(super) root: Value,
    pub(super) definitions: BTreeMap<String, Definition>,
}

pub(super) struct Definition {
    /// The place of the definition in the original document.
    pub(super) pointer: String,
    pub(super) schema: Value,
}

/// The definitions of a schema, ordered by the references between them.
pub(super) struct Graph {
    /// The definitions that reference themselves, and the definitions on a path between two of those.
    pub(super) recursive: BTreeSet<String>,
    /// The other definitions. Each one comes after the definitions that it references.
    pub(super) order: Vec<String>,
    /// Definitions that refer to themselves without a step into a value, so that no value can be checked against them.
    circular: BTreeSet<String>,
}

type Edges = BTreeMap<String, BTreeSet<String>>;

impl Graph {
    pub(super) fn of(converted: &ConvertedSchema) -> Self {
        let edges = |in_place| -> Edges {
            let definitions = converted.definitions.iter();
            definitions
                .map(|(name, it)| {
                    let mut found = BTreeSet::new();
                    collect(&it.schema, in_place, &mut found);
                    (name.clone(), found)
                })
                .collect()
        };
        let (all, circles) = (edges(false), edges(true));
        let recursive = on_circles(&all);
        let mut acyclic = all;
        acyclic.retain(|name, _| !recursive.contains(name));
        acyclic.values_mut().for_each(|to| to.retain(|name| !recursive.contains(name)));
        Self { recursive, order: peel(&acyclic).0, circular: on_circles(&circles) }
    }

    pub(super) fn judge(&self, converted: &ConvertedSchema, report: &mut Report) {
        for name in &self.circular {
            if let Some(definition) = converted.definitions.get(name) {
                let message = "the reference leads back to itself before it describes a value; \
                               put a type at one of the places that it passes";
                report.problem(definition.pointer.clone(), message);
            }
        }
        let levels = self.levels(converted);
        if levels > DEEPEST {
            let message = format!(
                "the schema has {levels} levels through its references, expected at most {DEEPEST}; \
                 send only what the tool needs"
            );
            report.problem("", message);
        }
        // The estimate recurses along the references.
        if levels <= DEEPEST && self.circular.is_empty() {
            self.judge_effort(converted, report);
        }
    }

    fn judge_effort(&self, converted: &ConvertedSchema, report: &mut Report) {
        let definitions = converted.definitions.iter().map(|(name, it)| (name, &it.schema));
        let effort = Efforts::of(definitions).estimate(&converted.root);
        if effort > HARDEST {
            let message = format!(
                "the alternatives and references of the schema lead on so many ways to the same definitions that one \
                 value would be examined more than {HARDEST} times; refer to each definition from fewer places"
            );
            report.problem("", message);
        }
    }

    /// Returns an upper bound of the number of levels, with each recursive definition counted once.
    fn levels(&self, converted: &ConvertedSchema) -> usize {
        let mut reached: BTreeMap<&str, usize> = BTreeMap::new();
        for name in &self.order {
            let Some(definition) = converted.definitions.get(name) else { continue };
            let mut to = BTreeSet::new();
            collect(&definition.schema, false, &mut to);
            let below = to.iter().filter_map(|name| reached.get(name.as_str())).max();
            let levels = limits::depth(&definition.schema) + below.copied().unwrap_or(0);
            reached.insert(name, levels);
        }
        let recursive = self.recursive.iter().filter_map(|name| converted.definitions.get(name));
        let recursive: usize = recursive.map(|it| limits::depth(&it.schema)).sum();
        let below = reached.values().max().copied().unwrap_or(0);
        limits::depth(&converted.root) + recursive + below
    }
}

/// Collects the references of a schema. With `in_place`, collects only references that constrain the same value as the
/// schema.
pub(super) fn collect(schema: &Value, in_place: bool, found: &mut BTreeSet<String>) {
    found.extend(keywords::target(schema).map(str::to_owned));
    keywords::parts(schema, &mut |keyword, part| {
        if !in_place || keywords::is_in_place(keyword) {
            collect(part, in_place, found);
        }
    });
}

/// Returns the nodes that are on a cycle, and the nodes on a path between two cycles.
fn on_circles(edges: &Edges) -> BTreeSet<String> {
    let ahead = peel(edges).1;
    let mut back: Edges = ahead.iter().map(|name| (name.clone(), BTreeSet::new())).collect();
    for from in &ahead {
        for to in edges.get(from).into_iter().flatten() {
            if let Some(sources) = back.get_mut(to) {
                sources.insert(from.clone());
            }
        }
    }
    peel(&back).1
}

/// Removes nodes without outgoing edges, again and again, until every remaining node has one. Returns the removed nodes
/// in order, and the remaining nodes. The function does not recurse, because the chains may be long.
fn peel(edges: &Edges) -> (Vec<String>, BTreeSet<String>) {
    let mut sources: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut open: BTreeMap<&str, usize> = BTreeMap::new();
    for (from, to) in edges {
        open.insert(from, to.len());
        to.iter().for_each(|to| sources.entry(to).or_default().push(from));
    }
    let mut ready: Vec<&str> =
        open.iter().filter(|(_, count)| **count == 0).map(|(name, _)| *name).collect();
    let mut taken = Vec::new();
    while let Some(name) = ready.pop() {
        taken.push(name.to_owned());
        for source in sources.get(name).into_iter().flatten() {
            if let Some(count) = open.get_mut(source) {
                *count -= 1;
                if *count == 0 {
                    ready.push(source);
                }
            }
        }
    }
    let left = open.iter().filter(|(_, count)| **count > 0).map(|(name, _)| (*name).to_owned());
    (taken, left.collect())
}
