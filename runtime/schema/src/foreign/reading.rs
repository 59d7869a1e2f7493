//! Converts an original schema of any draft to the keywords of 2020-12.
//!
//! - A place is read as part of the whole schema, and once more for each target of references that contains it. The
//!   total size of all targets has the same limit as the document.
//! - Problems and notes contain the place in the original document.

mod keyword;
mod kind;
mod pattern;

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Map, Value};

use super::references::{ConvertedSchema, Definition, Places};
use super::report::Report;
use super::{TypeNames, contradictions, limits, presets};
use toolwright_core::input::shorten;

pub(super) struct Reading<'a> {
    document: &'a Value,
    names: TypeNames,
    report: &'a mut Report,
    places: Places<'a>,
    /// The targets of references that still have to be read.
    waiting: VecDeque<String>,
    /// The location in the schema that is being read, as a JSON pointer.
    at: String,
    /// The number of alternatives that enclose this place. A schema that no value satisfies is a problem only outside
    /// of alternatives.
    choices: usize,
    /// The number of regular expressions that were compiled so far.
    patterns: usize,
    /// Whether keywords next to a reference are ignored, as in JSON Schema up to draft 7.
    lonely_references: bool,
}

impl<'a> Reading<'a> {
    pub(super) fn new(document: &'a Value, names: TypeNames, report: &'a mut Report) -> Self {
        let draft = document.get("$schema").and_then(Value::as_str).unwrap_or_default();
        Self {
            document,
            names,
            report,
            places: Places::of(document),
            waiting: VecDeque::new(),
            at: String::new(),
            choices: 0,
            patterns: 0,
            lonely_references: ["draft-03", "draft-04", "draft-06", "draft-07"]
                .iter()
                .any(|old| draft.contains(old)),
        }
    }

    /// Reads the schema, and every definition to which its references lead.
    pub(super) fn all(mut self) -> ConvertedSchema {
        let document = self.document;
        let root = self.schema(document);
        let mut definitions = BTreeMap::new();
        let mut values = 0;
        while let Some(pointer) = self.waiting.pop_front() {
            let Some(target) = document.pointer(&pointer) else { continue };
            let name = self.places.name(&pointer).to_owned();
            self.at = pointer.clone();
            values += limits::size(target);
            if values > limits::LARGEST {
                self.problem(limits::too_large());
                break;
            }
            self.choices = 0;
            let schema = self.schema(target);
            definitions.insert(name, Definition { pointer, schema });
        }
        ConvertedSchema { root, definitions }
    }

    fn schema(&mut self, source: &'a Value) -> Value {
        match source {
            Value::Bool(_) => source.clone(),
            Value::Object(object) => self.object(object),
            other => {
                let found = shorten(&other.to_string());
                self.problem(format!("found {found}, expected a schema: an object, true or false"));
                Value::Bool(true)
            }
        }
    }

    fn object(&mut self, source: &'a Map<String, Value>) -> Value {
        let mut schema = Map::new();
        let lonely = self.lonely_references && source.contains_key("$ref");
        for (keyword, value) in source {
            if lonely && keyword != "$ref" && !says_nothing(keyword) {
                let words =
                    format!("`{keyword}` beside `$ref` says nothing up to draft 7; left out");
                self.within(keyword, |reading| reading.note(words));
                continue;
            }
            self.within(keyword, |reading| reading.keyword(source, &mut schema, keyword, value));
        }
        if let Some(kind) = source.get("type").filter(|_| !lonely) {
            self.within("type", |reading| reading.kind(&mut schema, kind));
        }
        self.nullable(source, &mut schema);
        for (found, message) in contradictions::find(&mut schema, self.at.is_empty()) {
            match found {
                contradictions::Gravity::Impossible if self.choices == 0 => self.problem(message),
                _ => self.note(message),
            }
        }
        presets::mark(&mut schema, &self.at);
        Value::Object(schema)
    }

    /// Runs a function with the place `token` below the current place.
    fn within<T>(&mut self, token: &str, act: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.at.len();
        self.at.push('/');
        self.at.push_str(&token.replace('~', "~0").replace('/', "~1"));
        let done = act(self);
        self.at.truncate(length);
        done
    }

    fn problem(&mut self, message: impl Into<String>) {
        self.report.problem(self.at.clone(), message);
    }

    fn note(&mut self, message: impl Into<String>) {
        self.report.note(self.at.clone(), message);
    }
}

fn says_nothing(keyword: &str) -> bool {
    super::keywords::is_identity(keyword) || super::keywords::annotation(keyword).is_some()
}
