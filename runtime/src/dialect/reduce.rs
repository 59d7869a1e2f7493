//! A schema in the normal form as one dialect takes it. Every keyword is sent, told in words or
//! refused; every place is visited once, so that all findings come at once.

mod choice;
mod constant;
mod list;
mod object;

use serde_json::{Map, Value};

use super::finding::{Finding, Rule, Severity};
use super::node::{self, Node};
use super::recursion::{Graph, target};
use super::rules::{Recursion, References, Rules, TypeLists};
use super::{Described, Dialect, parts, words};

/// Deeper than this no schema is followed; what `serde_json` reads is no deeper.
const DEPTH: usize = 128;
/// More schemas than this are not written for one tool, however its references multiply.
const SCHEMAS: usize = 20_000;

/// Writes the input schema of a tool; findings are added to.
pub(super) fn input(dialect: Dialect, tool: &Described<'_>, findings: &mut Vec<Finding>) -> Node {
    let root = tool.input_schema;
    let mut reducer = Reducer::new(dialect, tool.name, root, "/input_schema", tool.order, findings);
    reducer.judge_recursion();
    reducer.root()
}

/// Writes the output schema of a tool, for the dialects that take one.
pub(super) fn output(
    dialect: Dialect,
    tool: &Described<'_>,
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
    /// The order of the root's properties.
    order: &'a [&'a str],
    findings: &'f mut Vec<Finding>,
    /// The place in the source.
    pointer: String,
    depth: usize,
    schemas: usize,
    /// The definitions that are being written in place of references to them.
    inlined: Vec<String>,
}

/// A schema being written.
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
            order,
            findings,
            pointer: pointer.to_owned(),
            depth: 0,
            schemas: 0,
            inlined: Vec::new(),
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
        if let Some(choice) = parts::distributed(object) {
            return self.schema(&choice);
        }
        if let Some(all) = object.get("allOf") {
            return self.all(object, all);
        }
        if ["anyOf", "oneOf"].iter().any(|it| object.contains_key(*it)) {
            return self.choice(object);
        }
        let types = parts::types(object);
        match (types.as_slice(), self.rules.type_lists) {
            ([], _) => self.anything(object),
            ([name], _) => self.typed(name, object, false),
            ([name, "null"] | ["null", name], TypeLists::Nullable) => {
                self.typed(name, object, true)
            }
            (_, TypeLists::Kept) if !object.contains_key("enum") => self.typed_list(&types, object),
            _ => self.split(&types, object),
        }
    }

    /// JSON Schema goes out as it came, but in order.
    fn plain(&mut self, object: &Map<String, Value>) -> Node {
        let mut draft = self.draft(object);
        let folds = object.contains_key("prefixItems") && !self.rules.tuples;
        if folds {
            self.list(&mut draft, object);
        }
        for (keyword, value) in object {
            let is_written = match keyword.as_str() {
                "description" => true,
                "prefixItems" | "items" => folds,
                _ => is_natural_limit(keyword, value),
            };
            if is_written {
                continue;
            }
            let node = match (keyword.as_str(), value) {
                ("properties", Value::Object(properties)) => self.properties(properties),
                ("patternProperties" | "$defs" | "dependentSchemas", Value::Object(schemas)) => {
                    let schemas = schemas.iter();
                    let mut entries: Vec<_> = schemas
                        .map(|(name, schema)| {
                            (name.clone(), self.at(&[keyword, name], |it| it.schema(schema)))
                        })
                        .collect();
                    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
                    Node::Object(entries)
                }
                ("required", Value::Array(_)) => self.required_in_order(object),
                ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                    Node::List(self.each(keyword, schemas))
                }
                (
                    "items"
                    | "additionalProperties"
                    | "unevaluatedProperties"
                    | "propertyNames"
                    | "not"
                    | "contains"
                    | "if"
                    | "then"
                    | "else",
                    Value::Object(_),
                ) => self.at(&[keyword], |it| it.schema(value)),
                _ => Node::sorted(value),
            };
            draft.put(keyword, node);
        }
        if self.depth == 1 && !object.contains_key("properties") {
            draft.put("properties", Node::Object(Vec::new()));
        }
        let is_open_list = object.get("type").and_then(Value::as_str) == Some("array")
            && !["items", "prefixItems"].iter().any(|it| object.contains_key(*it));
        if is_open_list && !self.rules.open_lists {
            self.refuse_open_list();
        }
        draft.finish()
    }

    fn reference(&mut self, object: &Map<String, Value>) -> Node {
        let reference = object.get("$ref").and_then(Value::as_str).unwrap_or_default();
        let Some(definition) = target(reference).and_then(|name| self.definition(&name)) else {
            let message = format!("`{reference}` leads to no definition of this schema");
            self.refuse(Rule::Reference, message, "define it under `$defs`");
            return Node::Object(Vec::new());
        };
        if self.rules.references == References::Inlined {
            return self.inlined(reference, definition, object);
        }
        let mut draft = self.draft(object);
        for (keyword, value) in node::in_order(object) {
            match keyword {
                "$ref" | "description" => {}
                "$defs" => self.definitions(&mut draft, value),
                _ if self.rules.plain() => draft.put(keyword, Node::sorted(value)),
                _ => self.tell(&mut draft, keyword, value),
            }
        }
        let link = ("$ref".to_owned(), Node::text(reference));
        let stands_alone =
            draft.keywords.is_empty() && draft.description.is_empty() && draft.sentences.is_empty();
        if stands_alone || self.rules.references == References::Kept {
            draft.keywords.push(link);
        } else {
            // What stands beside a reference would be passed over.
            draft.put("anyOf", Node::List(vec![Node::schema(vec![link])]));
        }
        draft.finish()
    }

    fn definition(&self, name: &str) -> Option<&'a Value> {
        if name.is_empty() { Some(self.root) } else { self.root.get("$defs")?.get(name) }
    }

    fn inlined(
        &mut self,
        reference: &str,
        definition: &Value,
        beside: &Map<String, Value>,
    ) -> Node {
        if self.inlined.iter().any(|it| it == reference) {
            // Judged with the definitions; here only the way in ends.
            return Node::Object(Vec::new());
        }
        let whole = match definition {
            Value::Object(definition) => {
                let mut whole = definition.clone();
                whole.remove("$defs");
                for (keyword, value) in beside.iter().filter(|(it, _)| *it != "$ref") {
                    match (whole.get_mut(keyword), value) {
                        (Some(Value::String(inner)), Value::String(outer))
                            if keyword == "description" && inner != outer =>
                        {
                            *inner = format!("{outer}\n\n{inner}");
                        }
                        _ => drop(whole.insert(keyword.clone(), value.clone())),
                    }
                }
                Value::Object(whole)
            }
            other => other.clone(),
        };
        self.inlined.push(reference.to_owned());
        let node = self.schema(&whole);
        self.inlined.pop();
        node
    }

    /// Writes the definitions that references lead to.
    fn definitions(&mut self, draft: &mut Draft, definitions: &Value) {
        if self.rules.references == References::Inlined {
            return;
        }
        let Some(definitions) = definitions.as_object() else { return };
        let mut written: Vec<_> = definitions
            .iter()
            .map(|(name, schema)| (name.clone(), self.at(&["$defs", name], |it| it.schema(schema))))
            .collect();
        written.sort_by(|(one, _), (other, _)| one.cmp(other));
        if !written.is_empty() {
            draft.put("$defs", Node::Object(written));
        }
    }

    fn judge_recursion(&mut self) {
        let graph = match self.rules.recursion {
            Recursion::Free => return,
            Recursion::BelowOptional => Graph::of(self.root, false),
            Recursion::Refused => Graph::of(self.root, true),
        };
        let (message, fix) = match self.rules.recursion {
            Recursion::BelowOptional => (
                "the type contains itself, which the provider takes only below a property that may be absent",
                "let the property be absent, by `Option` or `#[serde(default)]`",
            ),
            _ => (
                "the type contains itself, which the provider does not take",
                "show the tool in another form, or take its depth apart by ids",
            ),
        };
        for name in graph.recursive() {
            let place = if name.is_empty() { vec![] } else { vec!["$defs", name] };
            self.at(&place, |it| it.refuse(Rule::Recursion, message, fix));
        }
    }

    /// A value of any type.
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

    /// A value of one type.
    fn typed(&mut self, name: &str, object: &Map<String, Value>, nullable: bool) -> Node {
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
                _ if is_natural_limit(keyword, value) => {}
                _ if !types.iter().any(|name| parts::concerns(keyword, name)) => {}
                _ => self.limit(draft, keyword, value),
            }
        }
    }

    /// A keyword that says no more than a limit or a hint.
    fn limit(&mut self, draft: &mut Draft, keyword: &str, value: &Value) {
        let is_known = match keyword {
            "format" => value
                .as_str()
                .is_some_and(|format| self.rules.formats.is_none_or(|it| it.contains(&format))),
            // Anthropic's grammar knows empty and not empty.
            "minItems" if self.dialect == Dialect::AnthropicStrict => {
                value.as_u64().is_some_and(|count| count <= 1)
            }
            _ => self.rules.takes(keyword),
        };
        match keyword {
            _ if words::says_nothing(keyword, value) => {}
            "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties"
            | "maxProperties"
                if is_known && self.rules.google =>
            {
                draft.put(keyword, Node::text(value.to_string()));
            }
            _ if is_known => draft.put(keyword, Node::sorted(value)),
            _ => self.tell(draft, keyword, value),
        }
    }

    /// Puts a keyword into words.
    fn tell(&mut self, draft: &mut Draft, keyword: &str, value: &Value) {
        if words::says_nothing(keyword, value) {
            return;
        }
        let sentence = words::sentence(keyword, value);
        self.note(keyword, &sentence);
        draft.sentences.push(sentence);
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

    /// Goes to a place below this one and comes back.
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

/// Whether a limit is that of a 64-bit or 128-bit type: it tells a model nothing, and few readers of
/// JSON keep it exact.
fn is_natural_limit(keyword: &str, value: &Value) -> bool {
    const TWO_TO_127: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    let is_float = |expected: f64| value.as_f64() == Some(expected) && value.is_f64();
    match keyword {
        "minimum" => value.as_i64() == Some(i64::MIN) || is_float(-TWO_TO_127),
        "maximum" => value.as_i64() == Some(i64::MAX) || value.as_u64() == Some(u64::MAX),
        "exclusiveMaximum" => is_float(TWO_TO_127) || is_float(2.0 * TWO_TO_127),
        _ => false,
    }
}
