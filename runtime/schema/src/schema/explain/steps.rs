//! Replaces the validator's implementation of `$ref`, `anyOf` and `oneOf` while an explanation is made. Each
//! replacement records the parts of the value that do not satisfy its keyword.
//!
//! - A validator passes no context to a keyword, so a thread-local variable holds the state of the explanation.
//! - A place is compiled without the schemas to which references and unions lead, so that an error does not contain the
//!   errors of other places.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use foldhash::fast::RandomState;
use jsonschema::{Keyword, ValidationError, ValidatorMap};
use serde_json::{Map, Value};

use crate::schema::check::options;
use toolwright_core::json::pointer::below;
use toolwright_core::json::reference;
use toolwright_core::json::tree::push_segment;

thread_local! {
    /// The explanation that is being made on this thread.
    static CURRENT: RefCell<Option<Rc<Walk>>> = const { RefCell::new(None) };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Reference,
    AnyOf,
    OneOf,
}

/// A reference or union in the schema, identified by its location.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) kind: Kind,
    /// The keyword's location in the schema.
    pub(super) at: String,
    pub(super) ways: Vec<Way>,
    /// Whether the keyword applies to the keys of an object, which are not parts of the value.
    of_names: bool,
}

/// A place in the schema to which a keyword leads.
#[derive(Debug, Clone)]
pub(super) struct Way {
    /// The name of the validator for the place: `#` and the JSON pointer of the place.
    pub(super) name: Arc<str>,
    /// The index of the place among all places to which keywords lead.
    number: usize,
}

impl Way {
    pub(super) fn root() -> Self {
        Self { name: "#".into(), number: usize::MAX }
    }

    /// Returns the JSON pointer of the place.
    pub(super) fn place(&self) -> &str {
        self.name.strip_prefix('#').unwrap_or_default()
    }

    /// Returns a key that identifies this place together with a part of the value.
    pub(super) fn with(&self, value: &Value) -> (usize, usize) {
        (self.number, address(value))
    }
}

/// The keywords that failed, each with the memory address of the part of the value at which it failed.
pub(super) type Failed = Vec<(Arc<Step>, usize)>;

/// The state of one explanation. It stores which arrays and objects of the value fit which places of the schema, so
/// that this is determined only once.
pub(super) struct Walk {
    places: Arc<ValidatorMap>,
    /// Whether a part of the value fits a validator; `None` while that is being determined.
    known: RefCell<HashMap<(usize, usize), Option<bool>, RandomState>>,
    failed: RefCell<Failed>,
    steps: Cell<usize>,
    most: usize,
}

/// An explanation in progress. Dropping it clears the thread-local variable that refers to it.
pub(super) struct Running(Rc<Walk>);

impl std::ops::Deref for Running {
    type Target = Walk;

    fn deref(&self) -> &Walk {
        &self.0
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        CURRENT.with_borrow_mut(|current| *current = None);
    }
}

impl Walk {
    pub(super) fn begin(places: Arc<ValidatorMap>, most: usize) -> Running {
        let walk = Rc::new(Self {
            places,
            known: RefCell::default(),
            failed: RefCell::default(),
            steps: Cell::new(0),
            most,
        });
        CURRENT.with_borrow_mut(|current| *current = Some(Rc::clone(&walk)));
        Running(walk)
    }

    pub(super) fn steps(&self) -> usize {
        self.steps.get()
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.steps.get() > self.most
    }

    fn charge(&self) -> bool {
        self.steps.set(self.steps.get() + 1);
        !self.is_exhausted()
    }

    /// Examines a part of the value at a place. Returns the errors there, and the failed keywords that lead to other
    /// places.
    pub(super) fn errors<'v>(
        &'v self,
        way: &Way,
        value: &'v Value,
        first: bool,
    ) -> (Vec<ValidationError<'v>>, Failed) {
        let Some(place) = self.places.get(&way.name).filter(|_| self.charge()) else {
            return (Vec::new(), Vec::new());
        };
        let errors = if first {
            place.validate(value).err().into_iter().collect()
        } else {
            place.iter_errors(value).collect()
        };
        (errors, self.failed.take())
    }

    /// Counts the branches of a union that accept a part of the value. Stops counting at two.
    pub(super) fn fitting(&self, step: &Step, value: &Value) -> usize {
        step.ways.iter().filter(|way| self.fits(way, value)).take(2).count()
    }

    /// Returns whether a part of the value is valid at a place of the schema. When the steps are used up, every part
    /// counts as valid.
    fn fits(&self, way: &Way, value: &Value) -> bool {
        if !self.charge() {
            return true;
        }
        let place = || self.places.get(&way.name);
        if !value.is_array() && !value.is_object() {
            return place().is_none_or(|it| it.is_valid(value));
        }
        let key = way.with(value);
        if let Some(known) = self.known.borrow().get(&key) {
            // A schema that references itself for the same value adds no constraint.
            return known.unwrap_or(true);
        }
        let Some(place) = place() else { return true };
        self.known.borrow_mut().insert(key, None);
        let fits = place.is_valid(value);
        self.known.borrow_mut().insert(key, Some(fits));
        fits
    }

    fn holds(&self, step: &Step, value: &Value) -> bool {
        match step.kind {
            Kind::Reference | Kind::AnyOf => step.ways.iter().any(|way| self.fits(way, value)),
            Kind::OneOf => self.fitting(step, value) == 1,
        }
    }
}

/// Returns the memory address of a part of a value, which identifies it as long as the value is not moved.
pub(super) fn address(value: &Value) -> usize {
    std::ptr::from_ref(value).addr()
}

/// The failed keywords, by the address of the part of the value at which they failed.
type Wanted = HashMap<usize, Vec<Arc<Step>>, RandomState>;

/// Visits the parts of a value at which keywords failed, in the order of the value.
pub(super) fn locate<'v>(
    value: &'v Value,
    failed: Failed,
    at: &mut String,
    visit: &mut dyn FnMut(Arc<Step>, &'v Value, &str),
) {
    let mut wanted = Wanted::default();
    for (step, address) in failed {
        wanted.entry(address).or_default().push(step);
    }
    search(value, &mut wanted, at, visit);
}

fn search<'v>(
    value: &'v Value,
    wanted: &mut Wanted,
    at: &mut String,
    visit: &mut dyn FnMut(Arc<Step>, &'v Value, &str),
) {
    if wanted.is_empty() {
        return;
    }
    for step in wanted.remove(&address(value)).into_iter().flatten() {
        visit(step, value, at);
    }
    let mut within = |key: &str, value: &'v Value| {
        let length = at.len();
        push_segment(at, key);
        search(value, wanted, at, visit);
        at.truncate(length);
    };
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, it)| within(&index.to_string(), it));
        }
        Value::Object(entries) => entries.iter().for_each(|(key, it)| within(key, it)),
        _ => {}
    }
}

/// Compiles a validator for each place of a schema. Its references and unions are replaced by [`Stepping`].
pub(super) fn compile(source: &Value) -> Option<ValidatorMap> {
    let mut found = HashMap::new();
    keywords(source, "", false, &mut HashMap::new(), &mut found);
    let found = Arc::new(found);
    let mut options = options();
    for keyword in ["$ref", "anyOf", "oneOf"] {
        let found = Arc::clone(&found);
        // The validator does not say which place it compiles, so a keyword is found by the address of its value.
        options = options.with_keyword(keyword, move |_: &Map<String, Value>, value: &Value, _| {
            Ok(Box::new(Stepping(found.get(&address(value)).cloned())))
        });
    }
    options.build_map(source).ok()
}

/// Collects the references and unions of a schema, by the memory address of their values.
fn keywords(
    schema: &Value,
    at: &str,
    of_names: bool,
    numbers: &mut HashMap<String, Way>,
    found: &mut HashMap<usize, Arc<Step>>,
) {
    match schema {
        Value::Object(object) => {
            for (key, value) in object {
                let at = below(at, key);
                if let Some((kind, names)) = ways(key, value, &at) {
                    let ways = names.into_iter().map(|name| {
                        let way = Way { name: name.as_str().into(), number: numbers.len() };
                        numbers.entry(name).or_insert(way).clone()
                    });
                    let ways = ways.collect();
                    let step = Step { kind, at: at.clone(), ways, of_names };
                    found.insert(address(value), Arc::new(step));
                }
                keywords(value, &at, of_names || key == "propertyNames", numbers, found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                keywords(item, &format!("{at}/{index}"), of_names, numbers, found);
            }
        }
        _ => {}
    }
}

fn ways(keyword: &str, value: &Value, at: &str) -> Option<(Kind, Vec<String>)> {
    let kind = match (keyword, value) {
        ("$ref", Value::String(to)) => {
            return reference::place(to).map(|it| (Kind::Reference, vec![format!("#{it}")]));
        }
        ("anyOf", Value::Array(_)) => Kind::AnyOf,
        ("oneOf", Value::Array(_)) => Kind::OneOf,
        _ => return None,
    };
    let parts = value.as_array().map_or(0, Vec::len);
    Some((kind, (0..parts).map(|index| format!("#{at}/{index}")).collect()))
}

/// The validator's implementation of a keyword, replaced so that it walks the steps of the schema. `None` is used for a
/// reference to another document: every value is valid.
struct Stepping(Option<Arc<Step>>);

impl Stepping {
    fn current() -> Option<Rc<Walk>> {
        CURRENT.with_borrow(Clone::clone)
    }
}

impl<'i> Keyword<'i> for Stepping {
    /// Records a failure but returns no error, because an error would copy the value at every level.
    fn validate(&self, value: &'i Value) -> Result<(), ValidationError<'i>> {
        let (Some(step), Some(walk)) = (&self.0, Self::current()) else { return Ok(()) };
        if walk.holds(step, value) {
            return Ok(());
        }
        if step.of_names {
            return Err(ValidationError::custom("a key of another form"));
        }
        walk.failed.borrow_mut().push((Arc::clone(step), address(value)));
        Ok(())
    }

    fn is_valid(&self, value: &'i Value) -> bool {
        match (&self.0, Self::current()) {
            (Some(step), Some(walk)) => walk.holds(step, value),
            _ => true,
        }
    }
}
