//! Inlines definitions at the places that refer to them, if the schema stays small.
//!
//! - Either all definitions that can be inlined are inlined, or none, so that a schema does not mix the two styles.
//! - Recursive definitions remain in `$defs`.
//! - If a reference and its target both have a description, the result contains both.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::references::{ConvertedSchema, Graph};
use super::{keywords, limits};

/// The maximum size of an inlined schema, as the number of JSON values. The largest of 8,726 tool definitions that were
/// collected has a few hundred.
const LARGEST: usize = 10_000;

pub(super) fn inline(converted: ConvertedSchema, graph: &Graph) -> Value {
    let ConvertedSchema { root, definitions } = converted;
    let mut schemas: BTreeMap<String, Value> =
        definitions.into_iter().map(|(name, it)| (name, it.schema)).collect();
    let mut root = root;
    if stays_small(&root, &schemas, graph) {
        let mut uses = BTreeMap::new();
        count(&root, &mut uses);
        schemas.values().for_each(|schema| count(schema, &mut uses));
        let mut whole: BTreeMap<String, Value> = BTreeMap::new();
        for name in &graph.order {
            if let Some(mut schema) = schemas.remove(name) {
                put(&mut schema, &mut whole, &mut uses);
                whole.insert(name.clone(), schema);
            }
        }
        put(&mut root, &mut whole, &mut uses);
        schemas.values_mut().for_each(|schema| put(schema, &mut whole, &mut uses));
    }
    unfold(&mut root, &schemas);
    if let (Value::Object(root), false) = (&mut root, schemas.is_empty()) {
        root.insert("$defs".into(), schemas.into_iter().collect::<Map<_, _>>().into());
    }
    root
}

/// Returns whether the inlined schema would be small enough for people to read and for providers to accept.
fn stays_small(root: &Value, schemas: &BTreeMap<String, Value>, graph: &Graph) -> bool {
    let mut known: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for name in &graph.order {
        if let Some(schema) = schemas.get(name) {
            let extent = extent(schema, &known);
            known.insert(name, extent);
        }
    }
    let kept = graph.recursive.iter().filter_map(|name| schemas.get(name));
    let (size, depth) = kept.chain([root]).map(|schema| extent(schema, &known)).fold(
        (0, 0),
        |(size, deepest): (usize, usize), (more, depth)| {
            (size.saturating_add(more), deepest.max(depth))
        },
    );
    size <= LARGEST && depth <= limits::DEEPEST
}

/// Computes the size and the depth that a schema has after its references are inlined.
fn extent(schema: &Value, known: &BTreeMap<&str, (usize, usize)>) -> (usize, usize) {
    let mut size = limits::size(schema);
    let mut depth = limits::depth(schema);
    add_targets(schema, 0, known, &mut size, &mut depth);
    (size, depth)
}

fn add_targets(
    schema: &Value,
    level: usize,
    known: &BTreeMap<&str, (usize, usize)>,
    size: &mut usize,
    depth: &mut usize,
) {
    if let Some((more, levels)) = keywords::target(schema).and_then(|name| known.get(name)) {
        *size = size.saturating_add(*more);
        let around = if schema.as_object().is_some_and(only_tells) { 0 } else { 2 };
        *depth = (*depth).max(level + levels + around);
    }
    keywords::parts(schema, &mut |_, part| add_targets(part, level + 2, known, size, depth));
}

fn count(schema: &Value, uses: &mut BTreeMap<String, usize>) {
    if let Some(name) = keywords::target(schema) {
        *uses.entry(name.to_owned()).or_default() += 1;
    }
    keywords::parts(schema, &mut |_, part| count(part, uses));
}

/// Inlines the definitions in `whole`. The last use of a definition moves it instead of copying it.
fn put(
    schema: &mut Value,
    whole: &mut BTreeMap<String, Value>,
    uses: &mut BTreeMap<String, usize>,
) {
    keywords::parts_mut(schema, &mut |part| put(part, whole, uses));
    let Some(name) = keywords::target(schema).map(str::to_owned) else { return };
    let left = uses.entry(name.clone()).or_insert(1);
    *left = left.saturating_sub(1);
    let body = if *left == 0 { whole.remove(&name) } else { whole.get(&name).cloned() };
    if let (Some(body), Value::Object(site)) = (body, &mut *schema) {
        site.remove("$ref");
        *schema = join(std::mem::take(site), body);
    }
}

/// Replaces a root that is only a reference to a recursive definition by a copy of that definition.
fn unfold(root: &mut Value, schemas: &BTreeMap<String, Value>) {
    // Each step follows another definition, because circular references were refused before.
    for _ in 0..=schemas.len() {
        let Some(body) = keywords::target(root).and_then(|name| schemas.get(name)).cloned() else {
            return;
        };
        if let Value::Object(site) = root {
            site.remove("$ref");
            *root = join(std::mem::take(site), body);
        }
    }
}

/// Returns whether all keywords next to a reference only describe the value.
fn only_tells(site: &Map<String, Value>) -> bool {
    site.keys().all(|keyword| keyword == "$ref" || keywords::annotation(keyword).is_some())
}

/// Combines the keywords next to a reference with the schema to which the reference leads.
fn join(site: Map<String, Value>, body: Value) -> Value {
    let alone = only_tells(&site);
    match body {
        body if site.is_empty() => body,
        Value::Object(mut body) if alone => {
            for (keyword, mut value) in site {
                if let ("description", Some(inner), Some(outer)) =
                    (keyword.as_str(), body.get(&keyword).and_then(Value::as_str), value.as_str())
                    && inner != outer
                {
                    value = format!("{outer}\n\n{inner}").into();
                }
                body.insert(keyword, value);
            }
            Value::Object(body)
        }
        // Merging the keywords into one schema could change the meaning of some, such as `additionalProperties`.
        body => {
            let mut site = site;
            let parts = site.entry("allOf").or_insert_with(|| json!([]));
            if let Some(parts) = parts.as_array_mut() {
                parts.push(body);
            }
            Value::Object(site)
        }
    }
}
