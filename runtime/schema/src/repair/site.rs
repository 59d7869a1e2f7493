//! A schema prepared for repairs. For every place in the schema, it has the shapes that a value may have there.
//!
//! - A shape results from one choice of branches in `anyOf` and `oneOf`, combined with `allOf` and `$ref`. A place with
//!   one shape needs no guess.
//! - Shapes only guide a repair. The jsonschema crate decides whether the result is valid.
//! - The shapes of a place are made only once, so that the preparation of a recursive schema ends.

use std::collections::HashMap;
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::{Map, Value};

use super::shape::{Shape, Types};
use super::words::Spellings;
use crate::schema::{Explainer, options};
use toolwright_core::json::reference;
use toolwright_core::json::tree::{Node, push_segment};

/// The maximum number of shapes of one place.
const MOST_SHAPES: usize = 10_000;
/// The maximum number of steps in which the shapes of all places are made. A step is a shape, or a part of a shape such
/// as a property. Later places have only the shapes of their own keywords.
const MOST_STEPS: usize = 500_000;

/// A place in the schema.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) pointer: String,
    pub(super) shapes: Vec<Shape>,
    /// Whether the place has a single shape that includes all its constraints on scalars.
    pub(super) plain: bool,
    /// The spellings of the keys and of the choices, for each shape.
    pub(super) spellings: OnceLock<Vec<(Spellings, Spellings)>>,
}

impl Site {
    /// Returns the spellings of the keys and of the choices of a shape.
    pub(super) fn spellings(&self, shape: usize) -> &(Spellings, Spellings) {
        let all = self.spellings.get_or_init(|| {
            let keys = |shape: &Shape| Spellings::of(shape.properties.keys().map(String::as_str));
            self.shapes.iter().map(|it| (keys(it), Spellings::of(it.words()))).collect()
        });
        &all[shape]
    }
}

/// A schema prepared for repairs.
pub(super) struct Schema {
    pub(super) source: Value,
    pub(super) sites: Vec<Site>,
    pub(super) root: Validator,
    pub(super) explainer: Explainer,
    /// The number of steps that a repair may take, in addition to the steps that the size of the text allows.
    pub(super) patience: usize,
}

impl Schema {
    pub(super) fn new(source: &Value) -> Result<Self, String> {
        let mut source = source.clone();
        source.sort_all_objects();
        let root = options()
            .build(&source)
            .map_err(|error| format!("{error} (at {})", error.instance_path()))?;
        let sites = Compiler::run(&source);
        let shapes: usize = sites.iter().map(|site| site.shapes.len()).sum();
        let patience = 20_000 + 64 * shapes;
        let explainer = Explainer::new();
        Ok(Self { source, sites, root, explainer, patience })
    }

    /// Returns whether a value is valid at a place of the schema, and the number of steps that this took.
    pub(super) fn accepts(&self, site: usize, node: &Node) -> (bool, usize) {
        let site = &self.sites[site];
        if let ([shape], true, true) = (site.shapes.as_slice(), site.plain, node.is_scalar()) {
            let chosen = shape.choices.as_ref().is_none_or(|choices| choices.contains(node));
            return (chosen && shape.types.has(Types::of(node)), 0);
        }
        match node.value() {
            Some(value) => self.explainer.accepts(&self.source, &site.pointer, &value),
            None => (false, 0),
        }
    }
}

struct Compiler<'s> {
    source: &'s Value,
    known: HashMap<String, usize>,
    open: Vec<String>,
    /// The number of steps that are left.
    steps: usize,
}

impl<'s> Compiler<'s> {
    fn run(source: &'s Value) -> Vec<Site> {
        let (known, open) = (HashMap::new(), Vec::new());
        let mut compiler = Self { source, known, open, steps: MOST_STEPS };
        compiler.site(String::new());
        let mut sites: Vec<Site> = Vec::new();
        while let Some(pointer) = compiler.open.get(sites.len()).cloned() {
            let schema = source.pointer(&pointer).unwrap_or(&Value::Bool(true));
            let mut shapes = compiler.shapes(schema, &pointer, 0);
            shapes.truncate(MOST_SHAPES);
            let plain = is_plain(schema);
            sites.push(Site { pointer, shapes, plain, spellings: OnceLock::new() });
        }
        sites
    }

    fn site(&mut self, pointer: String) -> usize {
        if let Some(known) = self.known.get(&pointer) {
            return *known;
        }
        let number = self.open.len();
        self.known.insert(pointer.clone(), number);
        self.open.push(pointer);
        number
    }

    fn shapes(&mut self, schema: &Value, pointer: &str, chain: usize) -> Vec<Shape> {
        let Value::Object(schema) = schema else {
            return if schema == &Value::Bool(false) { Vec::new() } else { vec![Shape::any()] };
        };
        let base = self.own(schema, pointer);
        self.steps = self.steps.saturating_sub(weight(&base));
        if chain == reference::MOST_HOPS || self.steps == 0 {
            return vec![base];
        }
        let mut shapes = vec![base];
        if let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(reference::place)
            && let Some(found) = self.source.pointer(target)
        {
            let found = self.shapes(found, target, chain + 1);
            shapes = self.product(shapes, &found);
        }
        for part in self.list(schema, "allOf", pointer, chain) {
            shapes = self.product(shapes, &part);
        }
        for keyword in ["anyOf", "oneOf"] {
            if schema.contains_key(keyword) {
                let ways = self.list(schema, keyword, pointer, chain).concat();
                shapes = self.product(shapes, &ways);
            }
        }
        shapes
    }

    fn list(
        &mut self,
        schema: &Map<String, Value>,
        keyword: &str,
        pointer: &str,
        chain: usize,
    ) -> Vec<Vec<Shape>> {
        let parts = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
        parts
            .enumerate()
            .map(|(index, part)| {
                self.shapes(part, &format!("{pointer}/{keyword}/{index}"), chain + 1)
            })
            .collect()
    }

    /// Combines each shape with each of the others, unless that makes too many shapes.
    fn product(&mut self, shapes: Vec<Shape>, others: &[Shape]) -> Vec<Shape> {
        let heaviest = |shapes: &[Shape]| shapes.iter().map(weight).max().unwrap_or(0);
        let count = shapes.len().saturating_mul(others.len());
        let steps = count.saturating_mul(heaviest(&shapes) + heaviest(others));
        if count > MOST_SHAPES || steps > self.steps {
            return shapes;
        }
        self.steps -= steps;
        shapes.iter().flat_map(|shape| others.iter().map(|other| shape.both(other))).collect()
    }

    /// Makes the shape that a schema's own keywords describe.
    fn own(&mut self, schema: &Map<String, Value>, pointer: &str) -> Shape {
        let mut shape = Shape { types: Types::named(schema), ..Shape::any() };
        let choices = schema.get("enum").and_then(Value::as_array).map(Vec::as_slice);
        let choices = choices.or_else(|| schema.get("const").map(std::slice::from_ref));
        shape.choices = choices.map(|choices| choices.iter().map(Node::of).collect());
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (key, _) in properties {
            let mut place = format!("{pointer}/properties");
            push_segment(&mut place, key);
            shape.properties.insert(key.clone(), self.site(place));
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        shape.required = required.filter_map(Value::as_str).map(str::to_owned).collect();
        let patterns = schema.contains_key("patternProperties");
        for keyword in ["additionalProperties", "unevaluatedProperties"] {
            match schema.get(keyword) {
                Some(Value::Bool(false)) => shape.closed = !patterns,
                Some(Value::Object(_)) => {
                    shape.additional = Some(self.site(format!("{pointer}/{keyword}")));
                }
                _ => {}
            }
        }
        let prefix = |keyword| schema.get(keyword).and_then(Value::as_array).map(Vec::len);
        let (list, keyword) = match prefix("prefixItems") {
            Some(count) => (count, "prefixItems"),
            None => (prefix("items").unwrap_or(0), "items"),
        };
        shape.prefix =
            (0..list).map(|index| self.site(format!("{pointer}/{keyword}/{index}"))).collect();
        if schema.get("items").is_some_and(Value::is_object) {
            shape.items = Some(self.site(format!("{pointer}/items")));
        }
        shape
    }
}

/// Returns the number of steps in which a shape is made.
fn weight(shape: &Shape) -> usize {
    let choices = shape.choices.as_ref().map_or(0, Vec::len);
    1 + shape.properties.len() + shape.required.len() + shape.prefix.len() + choices
}

/// Returns whether a schema constrains scalars only by `type`, and by strings in `enum` or `const`.
fn is_plain(schema: &Value) -> bool {
    let Value::Object(schema) = schema else { return schema == &Value::Bool(true) };
    schema.iter().all(|(keyword, value)| match keyword.as_str() {
        "type"
        | "title"
        | "description"
        | "default"
        | "examples"
        | "deprecated"
        | "readOnly"
        | "writeOnly"
        | "$comment"
        | "$defs"
        | "$schema"
        | "definitions"
        | "properties"
        | "required"
        | "additionalProperties"
        | "items"
        | "prefixItems"
        | "minItems"
        | "maxItems"
        | "uniqueItems"
        | "minProperties"
        | "maxProperties" => true,
        "enum" => value.as_array().is_some_and(|it| it.iter().all(Value::is_string)),
        "const" => value.is_string(),
        _ => false,
    })
}
