//! Walks through a value along its schema, and repairs the parts for which the schema allows only one reading.
//!
//! - A valid value does not change: a rule applies only if the schema refuses the value.
//! - A failed attempt is undone. If two attempts give different results, nothing is repaired.
//! - The number of steps is limited, depending on the size of the text.

mod readings;

use std::cell::Cell;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use super::keys::{self, Aliases};
use super::list;
use super::shape::{Shape, Types};
use super::site::Schema;
use toolwright_core::input::shorten;
use toolwright_core::input::words::MOST_COMPARED;
use toolwright_core::json::MAX_DEPTH;
use toolwright_core::json::tree::{Node, push_segment, quote};
use toolwright_core::repairs::{Change, ChangeRule};

/// The maximum number of ambiguous places that are recorded.
const MOST_AMBIGUOUS: usize = 50;
/// How many steps in which the schema examines a value count as one step of a repair.
const CHEAPER: usize = 16;

/// Which repairs are allowed, by how uncertain they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    Standard,
    Lenient,
    /// Applies even uncertain repairs, to make an example that is shown but never run.
    Example,
}

/// The state of the repair of one value.
pub(super) struct Guide<'l> {
    schema: &'l Schema,
    aliases: &'l Aliases,
    reach: Reach,
    /// The changes made so far, in the order in which they can be replayed.
    pub(super) changes: Vec<Change>,
    /// The ambiguous places, each with two possible readings as words.
    pub(super) ambiguous: Vec<(String, String)>,
    steps: usize,
    most_steps: usize,
    /// The number of steps in which the schema examined values.
    examined: Cell<usize>,
    place: String,
    /// Whether the value was just put into an array, so that it is not put into a second one.
    wrapping: bool,
    /// Hashes of values that could not be repaired. A collision of hashes only leaves a value without repair.
    failed: HashSet<u64>,
    /// The number of letter comparisons that remain for finding typing errors.
    letters_left: usize,
    hasher: RandomState,
}

impl<'l> Guide<'l> {
    pub(super) fn new(
        schema: &'l Schema,
        aliases: &'l Aliases,
        reach: Reach,
        most_steps: usize,
    ) -> Self {
        Self {
            schema,
            aliases,
            reach,
            changes: Vec::new(),
            ambiguous: Vec::new(),
            steps: 0,
            most_steps,
            examined: Cell::new(0),
            place: String::new(),
            wrapping: false,
            failed: HashSet::new(),
            letters_left: MOST_COMPARED,
            hasher: RandomState::new(),
        }
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.steps + self.examined.get() / CHEAPER > self.most_steps
    }

    /// Returns whether a value is valid at a place of the schema.
    fn accepts(&self, site: usize, node: &Node) -> bool {
        let (is_valid, steps) = self.schema.accepts(site, node);
        self.examined.set(self.examined.get().saturating_add(steps));
        is_valid
    }

    fn is_lenient(&self) -> bool {
        self.reach >= Reach::Lenient
    }

    fn charge(&mut self, steps: usize) -> bool {
        self.steps = self.steps.saturating_add(steps);
        !self.is_exhausted()
    }

    /// Repairs a value at a place of the schema. Returns whether the value seems valid afterwards.
    pub(super) fn fix(&mut self, node: &mut Node, site: usize, depth: usize) -> bool {
        if depth > MAX_DEPTH || !self.charge(1) {
            return false;
        }
        match self.schema.sites[site].shapes.len() {
            0 => false,
            1 => self.fix_as(node, site, 0, depth),
            _ => self.fix_as_one_of(node, site, depth),
        }
    }

    fn fix_as(&mut self, node: &mut Node, site: usize, shape: usize, depth: usize) -> bool {
        let types = self.shape(site, shape).types;
        match node {
            Node::Object(entries) if types.has(Types::OBJECT) => {
                self.fix_object(entries, site, shape, depth)
            }
            Node::Array(items) if types.has(Types::ARRAY) => {
                self.fix_array(items, site, shape, depth)
            }
            node if self.fits(node, site, shape) => true,
            node => self.convert(node, site, shape, depth),
        }
    }

    fn shape(&self, site: usize, shape: usize) -> &'l Shape {
        &self.schema.sites[site].shapes[shape]
    }

    /// Returns whether a scalar is valid. If the place has several shapes, the value is checked against the whole place
    /// later.
    fn fits(&self, node: &Node, site: usize, shape: usize) -> bool {
        let only = self.schema.sites[site].shapes.len() == 1;
        let shape = self.shape(site, shape);
        node.is_scalar()
            && shape.types.has(Types::of(node))
            && if only {
                self.accepts(site, node)
            } else {
                shape.choices.as_ref().is_none_or(|choices| choices.contains(node))
            }
    }

    fn fix_as_one_of(&mut self, node: &mut Node, site: usize, depth: usize) -> bool {
        let schema = self.schema;
        let shapes = &schema.sites[site].shapes;
        if !self.charge(shapes.len()) {
            return false;
        }
        let possible: Vec<usize> =
            (0..shapes.len()).filter(|shape| self.may_be(node, &shapes[*shape])).collect();
        // If only one shape is possible, a partial repair shows which problems remain.
        if let [only] = possible.as_slice()
            && !node.is_scalar()
        {
            return self.fix_as(node, site, *only, depth);
        }
        let size = node.weight();
        if !self.charge(size) {
            return false;
        }
        // Failures are recorded, because each shape of an enclosing value would try to repair the same value again.
        let before = self.hasher.hash_one((site, depth, self.wrapping, &*node));
        if self.failed.contains(&before) {
            return false;
        }
        if self.accepts(site, node) {
            return true;
        }
        let fits = self.try_each(node, site, possible, size, depth);
        if !fits {
            self.failed.insert(before);
        }
        fits
    }

    /// Repairs a value as each of several shapes, and accepts the result if all successful attempts agree.
    fn try_each(
        &mut self,
        node: &mut Node,
        site: usize,
        possible: Vec<usize>,
        size: usize,
        depth: usize,
    ) -> bool {
        if let [only] = possible.as_slice() {
            return self.fix_as(node, site, *only, depth);
        }
        let mut found: Option<(Node, Vec<Change>)> = None;
        for shape in possible {
            if !self.charge(size) {
                return false;
            }
            let mark = self.changes.len();
            let mut attempt = node.clone();
            let fits = self.fix_as(&mut attempt, site, shape, depth);
            let made = self.changes.split_off(mark);
            if !fits || !self.accepts(site, &attempt) {
                continue;
            }
            match &found {
                Some((known, _)) if *known != attempt => {
                    self.leave(known, &attempt);
                    return false;
                }
                Some((_, changes)) if changes.len() <= made.len() => {}
                _ => found = Some((attempt, made)),
            }
        }
        self.adopt(node, found)
    }

    /// Records a place that has two possible readings.
    fn leave(&mut self, one: &Node, other: &Node) {
        if self.ambiguous.len() >= MOST_AMBIGUOUS {
            return;
        }
        let short = |node: &Node| shorten(&node.text());
        let readings = format!("{} or {}", short(one), short(other));
        self.ambiguous.push((self.place.clone(), readings));
    }

    fn adopt(&mut self, node: &mut Node, found: Option<(Node, Vec<Change>)>) -> bool {
        let Some((value, changes)) = found else { return false };
        *node = value;
        self.changes.extend(changes);
        true
    }

    /// Returns whether a value may be meant for a shape. An object is not meant for a shape whose tag differs from the
    /// object's tag.
    fn may_be(&self, node: &Node, shape: &Shape) -> bool {
        let Node::Object(entries) = node else { return true };
        if !shape.types.has(Types::OBJECT) {
            return shape.types.has(Types::ARRAY);
        }
        shape.required.iter().all(|key| {
            let Some(site) = shape.properties.get(key) else { return true };
            let [only] = self.schema.sites[*site].shapes.as_slice() else { return true };
            if only.choices.is_none() {
                return true;
            }
            let given = entries.iter().find(|(it, _)| it == key);
            let Some((_, Node::Text(given))) = given else { return true };
            only.words().any(|word| word == given)
                || self.schema.sites[*site].spellings(0).1.find(given).is_some()
        })
    }

    fn fix_array(&mut self, items: &mut [Node], site: usize, shape: usize, depth: usize) -> bool {
        let shape = self.shape(site, shape);
        let mut fits = true;
        for (index, item) in items.iter_mut().enumerate() {
            let Some(site) = shape.prefix.get(index).copied().or(shape.items) else { continue };
            fits &= self.within(&index.to_string(), |guide| guide.fix(item, site, depth + 1));
        }
        fits
    }

    fn within<T>(&mut self, key: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.place.len();
        push_segment(&mut self.place, key);
        let done = work(self);
        self.place.truncate(length);
        done
    }

    fn fix_object(
        &mut self,
        entries: &mut Vec<(String, Node)>,
        site: usize,
        shape: usize,
        depth: usize,
    ) -> bool {
        let wrapping = std::mem::replace(&mut self.wrapping, false);
        self.rename(entries, site, shape, depth);
        let shape = self.shape(site, shape);
        let mut fits = true;
        let mut kept = Vec::with_capacity(entries.len());
        for (key, mut value) in std::mem::take(entries) {
            let known = shape.properties.get(&key).copied();
            let Some(site) = known.or(shape.additional) else {
                fits &= !shape.closed;
                kept.push((key, value));
                continue;
            };
            let is_blank = value == Node::Null || value == Node::Text(String::new());
            let optional = known.is_some() && !shape.required.contains(&key);
            let absent = is_blank && optional && !self.accepts(site, &value);
            fits &= self.within(&key, |guide| {
                if absent {
                    guide.record(ChangeRule::Absent, value.text(), String::new());
                }
                absent || guide.fix(&mut value, site, depth + 1)
            });
            if !absent {
                kept.push((key, value));
            }
        }
        *entries = kept;
        self.wrapping = wrapping;
        let given = entries.iter().filter(|(key, _)| shape.required.contains(key)).count();
        fits && given == shape.required.len()
    }

    fn rename(&mut self, entries: &mut [(String, Node)], site: usize, shape: usize, depth: usize) {
        let aliases = (depth == 0).then_some(self.aliases);
        let about = self.shape(site, shape);
        if entries.iter().all(|(key, _)| about.properties.contains_key(key)) {
            return;
        }
        if !self.charge(entries.len()) {
            return;
        }
        let spellings = &self.schema.sites[site].spellings(shape).0;
        let is_lenient = self.is_lenient();
        let typos = is_lenient.then_some(&mut self.letters_left);
        for rename in keys::renames(entries, about, spellings, aliases, typos) {
            let old = std::mem::replace(&mut entries[rename.index].0, rename.to.clone());
            self.within(&old, |guide| {
                guide.record(rename.rule, quote(&old), quote(&rename.to));
            });
        }
    }

    /// Records a change. The cost depends on the length of the place, because the text may be one long key with many
    /// changes below it.
    fn record(&mut self, rule: ChangeRule, from: String, to: String) {
        if self.charge(self.place.len() / 16) {
            self.changes.push(Change { pointer: self.place.clone(), rule, from, to });
        }
    }

    /// Converts a value to the expected type, if exactly one reading of the value is valid.
    fn convert(&mut self, node: &mut Node, site: usize, shape: usize, depth: usize) -> bool {
        let mut readings = self.readings(node, site, shape, depth);
        if readings.is_empty() {
            readings = self.slips(node, site, shape);
        }
        let is_list = matches!(node, Node::Text(text) if list::is_list(text));
        let mut is_list_as_item = false;
        let mut found: Option<(Node, Vec<Change>)> = None;
        for (reading, rule) in readings {
            let Some((value, made)) = self.attempt(node, reading, rule, site, shape, depth) else {
                continue;
            };
            // If a text is the JSON of exactly the expected value, that reading takes precedence over all others.
            let is_meant = rule == ChangeRule::Stringified && made.len() == 1;
            if is_meant || (is_list && self.reach == Reach::Example) {
                return self.adopt(node, Some((value, made)));
            }
            if is_list && rule == ChangeRule::InArray {
                is_list_as_item = matches!(&value, Node::Array(items) if items[0].is_scalar());
            }
            match &found {
                Some((known, _)) if *known != value => {
                    self.leave(known, &value);
                    return false;
                }
                Some(_) => {}
                None => found = Some((value, made)),
            }
        }
        // A text that looks like a list is not put into an array as a single item, even if that is the only reading.
        self.adopt(node, found.filter(|_| !is_list_as_item))
    }

    fn attempt(
        &mut self,
        node: &Node,
        mut reading: Node,
        rule: ChangeRule,
        site: usize,
        shape: usize,
        depth: usize,
    ) -> Option<(Node, Vec<Change>)> {
        if !self.charge(node.weight()) {
            return None;
        }
        let mark = self.changes.len();
        self.record(rule, node.text(), reading.text());
        let fits = if reading.is_scalar() {
            self.fits(&reading, site, shape)
        } else {
            let before = self.wrapping;
            self.wrapping = rule == ChangeRule::InArray;
            let fits = self.fix_as(&mut reading, site, shape, depth);
            self.wrapping = before;
            fits
        };
        let made = self.changes.split_off(mark);
        fits.then_some((reading, made))
    }
}
