//! Reduces a schema in normal form to a schema that one dialect accepts. Every keyword that matters to a model is
//! either sent, stated in the description, or refused with a finding. After a finding the reduction continues, so that
//! all findings are reported together.

mod choice;
mod constant;
mod disjoint;
mod limit;
mod list;
mod object;
mod plain;
mod reference;

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::finding::{Finding, Rule, Severity};
use super::node::{self, Node};
use super::rules::{Rules, TypeLists};
use super::{DescribedTool, Dialect, parts, words};

/// The maximum depth to which a schema is reduced. `serde_json` has the same limit for parsing.
const DEPTH: usize = 128;
/// The maximum number of schemas in the result for one tool. Inlined references may multiply them.
const SCHEMAS: usize = 20_000;

/// Reduces the input schema of a tool, and adds findings.
pub(super) fn input(
    dialect: Dialect,
    tool: &DescribedTool<'_>,
    findings: &mut Vec<Finding>,
) -> Node {
    let root = tool.input_schema;
    let mut reducer = Reducer::new(dialect, tool.name, root, "/input_schema", tool.order, findings);
    reducer.judge_recursion();
    reducer.root()
}

/// Reduces the output schema of a tool, for dialects that send it.
pub(super) fn output(
    dialect: Dialect,
    tool: &DescribedTool<'_>,
    schema: &Value,
    findings: &mut Vec<Finding>,
) -> Node {
    Reducer::new(dialect, tool.name, schema, "/output_schema", &[], findings).schema(schema)
}

struct Reducer<'a, 'f> {
    rules: &'static Rules,
    dialect: Dialect,
    tool: &'a str,
    root: &'a Value,
    /// The positions of the properties of the root.
    order: HashMap<&'a str, usize>,
    findings: &'f mut Vec<Finding>,
    /// The current location in the original schema.
    pointer: String,
    depth: usize,
    schemas: usize,
    /// The references that are being inlined now, an outer reference before its inner references.
    inlined: Vec<String>,
    /// The names of recursive definitions. Computed when they are needed for the first time.
    recursive: OnceCell<HashSet<String>>,
}

/// A schema that is being built in the provider's form. `sentences` are appended to the description.
#[derive(Default)]
struct Draft {
    keywords: Vec<(String, Node)>,
    description: String,
    sentences: Vec<String>,
}

impl Draft {
    fn put(&mut self, keyword: &str, node: impl Into<Node>) {
        self.keywords.push((keyword.to_owned(), node.into()));
    }

    fn finish(mut self) -> Node {
        let description = words::describe(&self.description, &self.sentences);
        if !description.is_empty() {
            self.put("description", Node::text(description));
        }
        Node::schema(self.keywords)
    }
}

impl<'a, 'f> Reducer<'a, 'f> {
    fn new(
        dialect: Dialect,
        tool: &'a str,
        root: &'a Value,
        pointer: &str,
        order: &'a [&'a str],
        findings: &'f mut Vec<Finding>,
    ) -> Self {
        Self {
            rules: Rules::of(dialect),
            dialect,
            tool,
            root,
            order: order.iter().copied().zip(0..).collect(),
            findings,
            pointer: pointer.to_owned(),
            depth: 0,
            schemas: 0,
            inlined: Vec::new(),
            recursive: OnceCell::new(),
        }
    }

    fn root(&mut self) -> Node {
        let Some(object) = self.root.as_object() else {
            self.refuse(Rule::Root, "the input is no object", "describe an object");
            return Node::Object(Vec::new());
        };
        if object.get("type").and_then(Value::as_str) != Some("object") {
            self.refuse(
                Rule::Root,
                "the type of the input is not \"object\"",
                "describe an object",
            );
        }
        let choice = ["oneOf", "anyOf", "allOf"].into_iter().find(|it| object.contains_key(*it));
        if let (Some(keyword), false) = (choice, self.rules.root_choice) {
            let message = format!("the provider takes no `{keyword}` in the root of an input");
            self.refuse(Rule::Root, message, "make the choice a parameter of its own");
            return Node::Object(Vec::new());
        }
        self.schema(self.root)
    }

    fn schema(&mut self, schema: &Value) -> Node {
        self.schemas += 1;
        if self.depth >= DEPTH || self.schemas > SCHEMAS {
            if self.schemas <= SCHEMAS + 1 {
                let message = format!(
                    "the schema is nested deeper than {DEPTH} levels, or has more than {SCHEMAS} parts"
                );
                self.refuse(Rule::Size, message, "describe less");
            }
            return Node::Object(Vec::new());
        }
        self.depth += 1;
        let node = match schema {
            Value::Bool(true) => self.anything(&Map::new()),
            Value::Object(object) => self.keywords(object),
            _ => {
                self.refuse(Rule::Impossible, format!("no value fits {schema}"), "leave it out");
                Node::Object(Vec::new())
            }
        };
        self.depth -= 1;
        node
    }

    fn keywords(&mut self, object: &Map<String, Value>) -> Node {
        if object.contains_key("$ref") {
            return self.reference(object);
        }
        if self.rules.plain() {
            return self.plain(object);
        }
        if let Some(choice) = parts::distribute(object) {
            return self.schema(&choice);
        }
        if let Some(all) = object.get("allOf") {
            return self.all(object, all);
        }
        if ["anyOf", "oneOf"].iter().any(|it| object.contains_key(*it)) {
            return self.choice(object);
        }
        let mut types = parts::types(object);
        if let Some(constants) = parts::constants(object) {
            // A type without a constant is dropped. If no constant fits any type, [`constants`](Self::constants)
            // reports that.
            let has = |name: &str| constants.iter().any(|value| parts::fits(value, name));
            if types.iter().any(|name| has(name)) {
                types.retain(|name| has(name));
            }
        }
        match (types.as_slice(), self.rules.type_lists) {
            ([], _) => self.anything(object),
            ([name], _) => self.reduce_type(name, object, false),
            ([name, "null"] | ["null", name], TypeLists::Nullable) => {
                self.reduce_type(name, object, true)
            }
            (_, TypeLists::Kept) if !object.contains_key("enum") => self.typed_list(&types, object),
            _ => self.split(&types, object),
        }
    }

    /// Reduces the schema of a value that may have any type.
    fn anything(&mut self, object: &Map<String, Value>) -> Node {
        if !self.rules.untyped {
            let message = "a value may be anything, the provider wants to know its type";
            self.refuse(Rule::Untyped, message, "give it a type");
        }
        let mut draft = self.draft(object);
        for (keyword, value) in node::in_order(object) {
            if keyword != "description" {
                self.tell(&mut draft, keyword, value);
            }
        }
        draft.finish()
    }

    /// Reduces the schema of a value that has one type.
    fn reduce_type(&mut self, name: &str, object: &Map<String, Value>, nullable: bool) -> Node {
        let mut draft = self.draft(object);
        draft.put("type", self.type_name(name));
        if nullable {
            draft.put("nullable", true);
        }
        self.typed_into(&mut draft, &[name], object);
        draft.finish()
    }

    fn typed_list(&mut self, types: &[&str], object: &Map<String, Value>) -> Node {
        let mut draft = self.draft(object);
        draft.put("type", Node::List(types.iter().map(|name| self.type_name(name)).collect()));
        self.typed_into(&mut draft, types, object);
        draft.finish()
    }

    fn typed_into(&mut self, draft: &mut Draft, types: &[&str], object: &Map<String, Value>) {
        if types.contains(&"object") {
            self.object(draft, object);
        }
        if types.contains(&"array") {
            self.list(draft, object);
        }
        self.constants(draft, types, object);
        for (keyword, value) in node::in_order(object) {
            match keyword {
                "type" | "description" | "enum" | "const" => {}
                "$defs" => self.definitions(draft, value),
                "properties"
                | "required"
                | "additionalProperties"
                | "patternProperties"
                | "unevaluatedProperties"
                    if types.contains(&"object") => {}
                "items" | "prefixItems" if types.contains(&"array") => {}
                _ if limit::is_natural(object, keyword) => {}
                _ if !types.iter().any(|name| parts::concerns(keyword, name)) => {}
                "format" => self.format(draft, types, value),
                _ => self.limit(draft, keyword, value),
            }
        }
    }

    /// Returns whether this keyword is refused in the root of an input, although it is accepted in nested schemas.
    fn is_refused_in_root(&self, keyword: &str) -> bool {
        self.depth == 1 && !self.rules.root_choice && matches!(keyword, "not" | "enum")
    }

    fn draft(&self, object: &Map<String, Value>) -> Draft {
        let description = object.get("description").and_then(Value::as_str).unwrap_or_default();
        Draft { description: description.to_owned(), ..Draft::default() }
    }

    fn type_name(&self, name: &str) -> Node {
        Node::text(if self.rules.google { name.to_ascii_uppercase() } else { name.to_owned() })
    }

    fn each(&mut self, keyword: &str, schemas: &[Value]) -> Vec<Node> {
        let mut nodes = Vec::with_capacity(schemas.len());
        for (index, schema) in schemas.iter().enumerate() {
            nodes.push(self.at(&[keyword, &index.to_string()], |it| it.schema(schema)));
        }
        nodes
    }

    /// Runs `work` at a place below the current place, so that findings contain that place.
    fn at<T>(&mut self, place: &[&str], work: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.pointer.len();
        for step in place {
            self.pointer.push('/');
            self.pointer.push_str(&step.replace('~', "~0").replace('/', "~1"));
        }
        let result = work(self);
        self.pointer.truncate(length);
        result
    }

    fn refuse(&mut self, rule: Rule, message: impl Into<String>, fix: &str) {
        self.add(Severity::Error, rule, message.into(), fix.to_owned());
    }

    fn note(&mut self, keyword: &str, sentence: &str) {
        let message =
            format!("the provider takes no such `{keyword}`, the description says: {sentence}");
        self.add(Severity::Note, Rule::Keyword, message, String::new());
    }

    fn add(&mut self, severity: Severity, rule: Rule, message: String, fix: String) {
        let (tool, dialect, pointer) = (self.tool.to_owned(), self.dialect, self.pointer.clone());
        self.findings.push(Finding { tool, dialect, severity, rule, pointer, message, fix });
    }
}
