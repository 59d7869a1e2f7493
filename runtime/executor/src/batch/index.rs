//! Records which resources the calls of a turn have touched. The resources of one kind form trees by name, in which a
//! folder is above its files.
//!
//! A read of a resource waits for the writes of the resource itself, of the resources that contain it, and of the
//! resources below it. A write also waits for the reads of all of these. When a write is added to a node, the earlier
//! calls are dropped from the node, because the write waits for them and later calls wait for the write.
//!
//! Names of one scope with the same outermost container form one tree. Names of different trees, and names of kinds
//! that do not say what contains them, are compared one by one. If a call raises the number of these comparisons above
//! [`COMPARISONS`], it is planned to run alone, and the count begins again. Planning thereby stays fast for a turn of
//! any size.

use std::any::TypeId;
use std::collections::HashMap;

use super::steps::{Pending, Steps, WaitTarget};
use toolwright_core::footprint::{Footprint, ResourceScope, TouchedResource};

/// The number of compared pairs of names above which a call is planned to run alone.
const COMPARISONS: usize = 1 << 23;

/// How many containers a name may have; a call that touches a deeper one runs alone.
const DEEPEST: usize = 128;

#[derive(Debug, Default)]
pub(super) struct Index {
    /// The node above all kinds, for calls that touch every resource.
    all: Node,
    nodes: Vec<Node>,
    kinds: HashMap<TypeId, Kind>,
    compared: usize,
    deciding: DecidingWrites,
}

/// The writes of resources that decide which other resources later calls touch. They stay in the index after a call
/// that writes everything, because later calls are planned before that call has run.
#[derive(Debug, Default)]
struct DecidingWrites {
    written: Vec<(TouchedResource, Pending)>,
    everything: Option<Pending>,
}

/// The resources of one kind that were touched.
#[derive(Debug)]
struct Kind {
    node: usize,
    trees: HashMap<TreeKey, Tree>,
}

/// The scope of a tree and its outermost name; `None` for the tree of the names that are compared one by one.
type TreeKey = (Option<ResourceScope>, Option<String>);

#[derive(Debug, Default)]
struct Tree {
    names: HashMap<Option<String>, usize>,
    /// The resources in this tree that calls have touched, each with its node.
    touched: Vec<(TouchedResource, usize)>,
}

#[derive(Debug, Default)]
struct Node {
    /// The calls that touched the resource of this node itself.
    at: Accesses,
    /// The calls that touched the resource or anything inside of it.
    below: Accesses,
    is_touched: bool,
}

/// The calls that touched a node and that a later call may have to wait for. A write of the whole node replaces them.
#[derive(Debug, Default)]
struct Accesses {
    writers: Group,
    readers: Group,
}

#[derive(Debug, Default)]
struct Group(Vec<WaitTarget>);

/// The position of a resource: its containers, its own node, and the nodes of other trees that it overlaps.
struct Place {
    containers: Vec<usize>,
    node: usize,
    meets: Vec<usize>,
}

impl Index {
    /// Adds a call that touches these resources, and returns the calls and joins that it waits for.
    pub(super) fn add(
        &mut self,
        footprint: &Footprint,
        call: Pending,
        steps: &mut Steps,
    ) -> Vec<WaitTarget> {
        let (reads, writes) = (footprint.resources_read(), footprint.resources_written());
        let Some(writes) = writes else { return self.add_alone(call, steps) };
        if self.deciding.is_open_for(reads.unwrap_or_default(), steps) {
            self.deciding.add(writes, call);
            return self.add_alone(call, steps);
        }
        let mut waits_for = Vec::new();
        let mut places = Vec::new();
        let read = reads.unwrap_or_default().iter().map(|it| (it, false));
        for (resource, is_write) in read.chain(writes.iter().map(|it| (it, true))) {
            let Some(place) = self.place(resource) else { return self.add_alone(call, steps) };
            self.all.at.wait_for(is_write, steps, &mut waits_for);
            for node in place.containers.iter().chain(&place.meets) {
                if let Some(node) = self.nodes.get_mut(*node) {
                    node.at.wait_for(is_write, steps, &mut waits_for);
                }
            }
            if let Some(node) = self.nodes.get_mut(place.node) {
                node.below.wait_for(is_write, steps, &mut waits_for);
            }
            places.push((place, is_write));
        }
        if reads.is_none() {
            self.all.below.wait_for(false, steps, &mut waits_for);
        }
        self.deciding.add(writes, call);
        for (place, is_write) in places {
            self.all.below.add(is_write, call.into());
            for node in place.containers {
                if let Some(node) = self.nodes.get_mut(node) {
                    node.below.add(is_write, call.into());
                }
            }
            if let Some(node) = self.nodes.get_mut(place.node) {
                node.touch(is_write, call.into());
            }
        }
        if reads.is_none() {
            self.all.touch(false, call.into());
        }
        waits_for
    }

    /// Adds a call that may write every resource, and returns what it waits for.
    pub(super) fn add_alone(&mut self, call: Pending, steps: &mut Steps) -> Vec<WaitTarget> {
        let mut waits_for = Vec::new();
        self.all.below.wait_for(true, steps, &mut waits_for);
        // Every later call waits for this call, and thereby for all calls before it.
        let mut deciding = std::mem::take(&mut self.deciding);
        deciding.everything = Some(call);
        *self = Self { deciding, ..Self::default() };
        self.all.touch(true, call.into());
        waits_for
    }

    /// Finds the position of a resource; `None` if that takes too many comparisons, or the resource's name is too
    /// deep.
    fn place(&mut self, resource: &TouchedResource) -> Option<Place> {
        let Self { nodes, kinds, compared, .. } = self;
        let kind = kinds
            .entry(resource.kind_id())
            .or_insert_with(|| Kind { node: new_node(nodes), trees: HashMap::new() });
        if resource.name().is_none() && resource.scope().is_none() {
            return Some(Place { containers: Vec::new(), node: kind.node, meets: Vec::new() });
        }
        let above = resource.containers();
        let outermost = above.as_ref().map(|above| above.first().copied().or(resource.name()));
        let above = above.unwrap_or_default();
        if above.len() > DEEPEST {
            return None;
        }
        let key = (resource.scope().cloned(), outermost.flatten().map(ToOwned::to_owned));
        let mut meets = Vec::new();
        if kind.trees.len() > 1 || key.1.is_none() || !kind.trees.contains_key(&key) {
            let others = kind.trees.iter().filter(|(other, _)| key.1.is_none() || **other != key);
            for (_, tree) in others {
                *compared += tree.touched.len();
                if *compared > COMPARISONS {
                    return None;
                }
                let met = tree.touched.iter().filter(|(other, _)| resource.overlaps(other));
                meets.extend(met.map(|(_, node)| *node));
            }
        }
        let tree = kind.trees.entry(key).or_default();
        let mut node_of = |name: Option<&str>| match tree.names.get(&name.map(ToOwned::to_owned)) {
            Some(node) => *node,
            None => {
                let node = new_node(nodes);
                tree.names.insert(name.map(ToOwned::to_owned), node);
                node
            }
        };
        let mut containers = vec![kind.node];
        containers.extend(above.into_iter().map(|name| node_of(Some(name))));
        let node = node_of(resource.name());
        if let Some(it) = nodes.get_mut(node).filter(|it| !it.is_touched) {
            it.is_touched = true;
            tree.touched.push((resource.clone(), node));
        }
        Some(Place { containers, node, meets })
    }
}

impl DecidingWrites {
    /// Returns whether a call that has not ended may change which resources a call with these reads will touch.
    fn is_open_for(&self, reads: &[TouchedResource], steps: &Steps) -> bool {
        let is_open = |call: Pending| !steps.has_ended(call.into());
        reads.iter().filter(|it| it.decides()).any(|read| {
            self.everything.is_some_and(is_open)
                || self.written.iter().any(|(it, call)| is_open(*call) && it.overlaps(read))
        })
    }

    fn add(&mut self, writes: &[TouchedResource], call: Pending) {
        let deciding = writes.iter().filter(|it| it.decides());
        self.written.extend(deciding.map(|it| (it.clone(), call)));
    }
}

fn new_node(nodes: &mut Vec<Node>) -> usize {
    nodes.push(Node::default());
    nodes.len() - 1
}

impl Node {
    fn touch(&mut self, is_write: bool, call: WaitTarget) {
        if is_write {
            // This write waits for all earlier accesses, so later calls need to wait only for the write.
            (self.at, self.below) = Default::default();
        }
        self.at.add(is_write, call);
        self.below.add(is_write, call);
    }
}

impl Accesses {
    fn wait_for(&mut self, by_a_write: bool, steps: &mut Steps, waits_for: &mut Vec<WaitTarget>) {
        self.writers.wait_for(steps, waits_for);
        if by_a_write {
            self.readers.wait_for(steps, waits_for);
        }
    }

    fn add(&mut self, is_write: bool, call: WaitTarget) {
        match is_write {
            true => self.writers.add(call),
            false => self.readers.add(call),
        }
    }
}

impl Group {
    /// Adds all calls of the group to `waits_for`. Replaces several calls by one join, so that each further wait costs
    /// one step.
    fn wait_for(&mut self, steps: &mut Steps, waits_for: &mut Vec<WaitTarget>) {
        self.0.retain(|waited| !steps.has_ended(*waited));
        if self.0.len() > 1 {
            self.0 = vec![steps.join(&self.0)];
        }
        waits_for.extend(&self.0);
    }

    fn add(&mut self, call: WaitTarget) {
        if self.0.last() != Some(&call) {
            self.0.push(call);
        }
    }
}
