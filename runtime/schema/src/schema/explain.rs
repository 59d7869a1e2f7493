//! Explains why a schema refuses a value, by following each reference and each union separately.
//!
//! - The validator decides whether a value is valid. This module runs only after the validator has refused a value. It
//!   finds the reasons, and for a repair it examines parts of the value.
//! - For a union, only one branch is explained: the number of errors of all branches would double with each level.
//! - Each schema examines each part of the value at most once. The number of steps is limited, and later parts are left
//!   out.

mod closest;
mod steps;
mod tag;
#[cfg(test)]
mod unions;

use std::cell::Cell;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;
use jsonschema::{ValidationError, ValidatorMap};
use serde_json::Value;

use super::problems::{EnteredSchema, Teller};
use steps::{Kind, Step, Walk, Way};
use toolwright_core::input::{Problem, words};

/// The maximum number of steps of an explanation. A step examines one part of a value by one schema.
const MOST_STEPS: usize = 400_000;

/// The maximum number of problems that an explanation describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Only the first problem that is found.
    First,
    /// At most this number of problems; further problems are only counted.
    UpTo(usize),
}

/// The problems of a value.
#[derive(Debug, Default)]
pub(crate) struct Explanation {
    pub(crate) problems: Vec<Problem>,
    /// The number of errors that were found but not described.
    pub(crate) more: usize,
    /// The number of steps that the explanation took.
    #[cfg(test)]
    pub(crate) steps: usize,
}

/// Explains which constraints of one schema a value violates.
pub(crate) struct Explainer {
    /// The validators, which are compiled when a value is refused for the first time. Each one examines a place without
    /// the schemas to which the place refers, so their size grows only with the size and the depth of the schema.
    places: OnceLock<Option<Arc<ValidatorMap>>>,
}

impl Explainer {
    pub(crate) const fn new() -> Self {
        Self { places: OnceLock::new() }
    }

    /// Explains why a schema refuses a value. Each call must pass the same schema. The explanation may be empty,
    /// because the steps are limited.
    pub(crate) fn explain(
        &self,
        source: &Value,
        value: &Value,
        digits: &dyn Fn(&str) -> Option<String>,
        depth: Depth,
    ) -> Explanation {
        let mut explanation = Explanation::default();
        if let Some(places) = self.places(source) {
            let walk = Walk::begin(Arc::clone(places), MOST_STEPS);
            let work = Work {
                source,
                digits,
                depth,
                walk: &walk,
                seen: HashSet::default(),
                left: Cell::new(words::MOST_COMPARED),
                explanation: &mut explanation,
            };
            work.run(value);
            #[cfg(test)]
            {
                explanation.steps = walk.steps();
            }
        }
        explanation
    }

    /// Returns whether a value is valid at the place of the schema to which the pointer leads, and the number of steps
    /// that this took. Each call must pass the same schema. If the steps run out, the value counts as invalid.
    pub(crate) fn accepts(&self, source: &Value, pointer: &str, value: &Value) -> (bool, usize) {
        let Some(places) = self.places(source) else { return (false, 0) };
        let walk = Walk::begin(Arc::clone(places), MOST_STEPS);
        let is_valid = places.get(&format!("#{pointer}")).is_some_and(|it| it.is_valid(value));
        (is_valid && !walk.is_exhausted(), walk.steps())
    }

    fn places(&self, source: &Value) -> Option<&Arc<ValidatorMap>> {
        self.places.get_or_init(|| steps::compile(source).map(Arc::new)).as_ref()
    }
}

/// The state of an explanation that is being made.
struct Work<'w> {
    source: &'w Value,
    digits: &'w dyn Fn(&str) -> Option<String>,
    depth: Depth,
    walk: &'w Walk,
    /// The pairs of a place of the schema and a part of the value that were examined.
    seen: HashSet<(usize, usize), RandomState>,
    /// The number of letter comparisons that remain for finding similar words.
    left: Cell<usize>,
    explanation: &'w mut Explanation,
}

/// A place of the schema, and a part of the value that violates the schema at that place.
struct Broken<'v> {
    way: Way,
    value: &'v Value,
    /// The location of the part in the value.
    at: String,
    /// The keyword that led to this place, if the keyword applies to the same part of the value; `None` for the root.
    by: Option<Arc<Step>>,
}

impl Work<'_> {
    /// Examines the places in the order of the value. Each place is followed by the places to which it leads.
    fn run(mut self, value: &Value) {
        let root = Broken { way: Way::root(), value, at: String::new(), by: None };
        let mut open = vec![root];
        while let Some(broken) = open.pop() {
            let is_new = self.seen.insert(broken.way.with(broken.value));
            if !is_new || self.walk.is_exhausted() {
                continue;
            }
            if self.look(&broken, &mut open).is_break() {
                return;
            }
        }
    }

    /// Reports the errors at a place of the schema, and adds the places to which failed keywords lead.
    fn look<'v>(&mut self, broken: &Broken<'v>, open: &mut Vec<Broken<'v>>) -> ControlFlow<()> {
        let (errors, failed) =
            self.walk.errors(&broken.way, broken.value, self.depth == Depth::First);
        for error in &errors {
            self.tell(broken, error);
            if self.depth == Depth::First && !self.explanation.problems.is_empty() {
                return ControlFlow::Break(());
            }
        }
        let mut next = Vec::new();
        let mut at = broken.at.clone();
        steps::locate(broken.value, failed, &mut at, &mut |step, value, at| {
            next.extend(self.follow(&step, value, at));
        });
        open.extend(next.into_iter().rev());
        ControlFlow::Continue(())
    }

    fn tell(&mut self, broken: &Broken<'_>, error: &ValidationError<'_>) {
        if self.is_full() {
            self.explanation.more += 1;
            return;
        }
        let entered = broken.by.as_ref().map(|step| step.at.as_str());
        let schema = self.source.pointer(broken.way.place()).unwrap_or(&Value::Null);
        let teller = Teller {
            source: self.source,
            digits: self.digits,
            entered: EnteredSchema { schema, at: &broken.at, by: entered },
            left: &self.left,
        };
        teller.tell(error, &mut self.explanation.problems);
    }

    fn is_full(&self) -> bool {
        matches!(self.depth, Depth::UpTo(most) if self.explanation.problems.len() >= most)
    }

    /// Returns the place to which a failed reference or union leads. If a union leads to no place, reports the union
    /// itself.
    fn follow<'v>(&mut self, step: &Arc<Step>, value: &'v Value, at: &str) -> Option<Broken<'v>> {
        if step.kind != Kind::Reference
            && let Some(problem) = tag::problem(self.source, step, value, at, &self.left)
        {
            match self.is_full() {
                true => self.explanation.more += 1,
                false => self.explanation.problems.push(problem),
            }
            return None;
        }
        let way = match step.kind {
            Kind::Reference => step.ways.first().cloned(),
            Kind::AnyOf | Kind::OneOf => {
                closest::closest(self.walk, step, value).map(|index| step.ways[index].clone())
            }
        };
        if let Some(way) = way {
            return Some(Broken { way, value, at: at.to_owned(), by: Some(Arc::clone(step)) });
        }
        if self.is_full() {
            self.explanation.more += 1;
            return None;
        }
        let schema = step.at.rsplit_once('/').and_then(|(holder, _)| self.source.pointer(holder));
        let teller = Teller {
            source: self.source,
            digits: self.digits,
            entered: EnteredSchema {
                schema: schema.unwrap_or(&Value::Null),
                at,
                by: Some(&step.at),
            },
            left: &self.left,
        };
        let several = step.kind == Kind::OneOf && self.walk.fitting(step, value) > 1;
        self.explanation.problems.push(teller.union(value, several));
        None
    }
}
