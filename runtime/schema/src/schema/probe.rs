//! Whether a type takes what its schema takes: found out by reading values when a registry is made.
//!
//! - Values that the schema takes are read, and each part of them once more with something odd in
//!   its place. Where type and schema disagree, either the schema is corrected, or the type is held to
//!   its schema at every call, or the registry is not made.
//! - A value of the wrong kind makes the reader say which names the type asked for, and with them
//!   the aliases that no schema shows.
//! - A value is judged by its own schema where nothing above has a say in it, and read with no more of
//!   the sample than what comes before it. Only where type and schema then seem to differ is the whole
//!   sample read and judged, so that the cost grows with the size of a type and not with its square.
//! - All this has an end: a type that would need more of it is held to its schema at every call.
//! - A rule of a type's own, such as `try_from`, cannot be seen. A type that refuses a value by its own
//!   rule is not thought to be wrong.

use std::collections::HashSet;

use serde_json::Value;

use super::check::Checker;
use super::map_keys::{Correction, correction};
use super::names::{SchemaNames, find_names};
use super::odd;
use super::opening::Openings;
use super::sample::{Place, Sample, samples};
use super::trial::Trial;
use toolwright_core::input::{ExpectedInput, Fault, Rule};
use toolwright_core::schema::SchemaProblem;
use toolwright_core::spec::Probe;

/// Corrects a schema, which holds its definitions. Returns whether samples show that the type takes what its schema says
/// and nothing else.
pub(super) fn agree(document: &mut Value, read: Probe) -> Result<bool, SchemaProblem> {
    let trial = Trial::new(read);
    // Each correction takes something away, so that there is an end; this is for a type that lies.
    let mut exact = true;
    while !trial.is_spent() {
        let checker = match plain_kind(document) {
            Some(kind) => Validity::Kind(kind),
            None => Validity::Schema(Checker::new(document)?),
        };
        match (Judge { document, checker, trial: &trial, exact }).run()? {
            ProbeOutcome::Agreed { exact } => return Ok(exact),
            ProbeOutcome::Wrong { at, correction } => {
                // Which keys a map takes is only known from a few of them.
                exact = false;
                correction.apply(document, &at);
            }
        }
    }
    Ok(false)
}

enum ProbeOutcome {
    Agreed { exact: bool },
    Wrong { at: String, correction: Correction },
}

struct Judge<'a> {
    document: &'a Value,
    checker: Validity,
    trial: &'a Trial,
    exact: bool,
}

/// Whether a value is what the schema asks for.
enum Validity {
    Schema(Checker),
    /// Nothing is asked for but a kind of scalar. Most parameters are such, and compiling a schema
    /// costs more than all else that is done for them.
    Kind(fn(&Value) -> bool),
}

impl Validity {
    fn is_valid(&self, value: &Value) -> bool {
        match self {
            Self::Schema(checker) => checker.is_valid(value),
            Self::Kind(is_valid) => is_valid(value),
        }
    }
}

/// The kind of scalar that a schema asks for, where it says no more than a primitive type does. The
/// values that are tried are within the bounds of every such type.
fn plain_kind(document: &Value) -> Option<fn(&Value) -> bool> {
    let object = document.as_object()?;
    let is_known = |keyword: &String| ["type", "minimum", "maximum"].contains(&keyword.as_str());
    if !object.keys().all(is_known) {
        return None;
    }
    let includes = |limit: &str, holds: fn(f64) -> bool| {
        object.get(limit).is_none_or(|it| it.as_f64().is_some_and(holds))
    };
    if !includes("minimum", |it| it <= 0.0) || !includes("maximum", |it| it >= 100.0) {
        return None;
    }
    match object.get("type")?.as_str()? {
        "string" => Some(Value::is_string),
        "boolean" => Some(Value::is_boolean),
        "number" => Some(Value::is_number),
        "integer" => Some(|value| value.as_f64().is_some_and(|it| it.fract() == 0.0)),
        _ => None,
    }
}

impl Judge<'_> {
    fn run(mut self) -> Result<ProbeOutcome, SchemaProblem> {
        let made = samples(self.document);
        let count = made.all.len();
        let samples: Vec<Sample> =
            made.all.into_iter().filter(|sample| self.checker.is_valid(&sample.value)).collect();
        // What no value is known of can only be trusted together with its check.
        self.exact &= made.is_complete && !samples.is_empty() && samples.len() == count;
        for sample in &samples {
            // First, as a map whose keys are not known makes every sample of it wrong.
            for place in &sample.places {
                if let Some(correction) = correction(self.document, self.trial, sample, place)? {
                    return Ok(ProbeOutcome::Wrong { at: place.schema.clone(), correction });
                }
            }
            self.compare(sample, &sample.value, true)?;
            if self.trial.is_spent() {
                return Ok(ProbeOutcome::Agreed { exact: false });
            }
        }
        let mut seen: HashSet<&str> = HashSet::new();
        for sample in &samples {
            let mut openings = None;
            for place in &sample.places {
                if !seen.insert(&place.schema) {
                    continue;
                }
                if self.trial.is_spent() {
                    return Ok(ProbeOutcome::Agreed { exact: false });
                }
                let opening = if place.instance.is_empty() {
                    Some(String::new())
                } else {
                    openings
                        .get_or_insert_with(|| Openings::new(self.document, sample))
                        .before(place)
                };
                self.place(sample, place, opening.as_deref())?;
            }
        }
        Ok(ProbeOutcome::Agreed { exact: self.exact })
    }

    /// Reads the sample with odd values at one place.
    fn place(
        &mut self,
        sample: &Sample,
        place: &Place,
        opening: Option<&str>,
    ) -> Result<(), SchemaProblem> {
        self.names(sample, place, opening)?;
        let verdicts = odd::verdicts(self.document, &place.schema);
        let mut differs = [true; odd::TEXTS.len()];
        if let Some(opening) = opening {
            let mut taken = Vec::new();
            // The whole value is one that nothing is missing of.
            let mut judges_at_once = place.instance.is_empty();
            for (index, odd) in odd::TEXTS.iter().enumerate() {
                let Some(valid) = verdicts[index] else { continue };
                let takes = self.trial.takes_last(&format!("{opening}{odd}"))?;
                if takes && valid {
                    taken.push(index);
                }
                if !takes {
                    judges_at_once = true;
                    differs[index] = valid;
                }
            }
            if judges_at_once {
                taken.into_iter().for_each(|index| differs[index] = false);
            }
        }
        for (index, odd) in odd::TEXTS.iter().enumerate() {
            // What the type takes besides is of no more interest once something is.
            let is_settled = verdicts[index] == Some(false) && !self.exact;
            if differs[index] && !is_settled {
                let value = with(sample, place, serde_json::from_str(odd).unwrap_or_default());
                self.compare(sample, &value, false)?;
            }
        }
        Ok(())
    }

    /// Compares what type and schema make of one value.
    fn compare(
        &mut self,
        sample: &Sample,
        value: &Value,
        is_sample: bool,
    ) -> Result<(), SchemaProblem> {
        let valid = self.checker.is_valid(value);
        let text = value.to_string();
        // Where a tag comes decides whether serde reads its content directly or from a buffer.
        let reversed = Some(reverse(value)).filter(|it| *it != text);
        // To make and to judge a value costs several times what it costs to read it.
        self.trial.spend(3 * text.len());
        for text in std::iter::once(text).chain(reversed) {
            match self.trial.fault(&text)? {
                None => self.exact &= valid,
                Some(fault) if valid => {
                    self.exact = false;
                    if !self.trial.rereads(&text)? {
                        narrower(sample, &fault, is_sample)?;
                    }
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Compares the names that the type asks for with those of its schema.
    fn names(
        &mut self,
        sample: &Sample,
        place: &Place,
        opening: Option<&str>,
    ) -> Result<(), SchemaProblem> {
        if !self.exact {
            return Ok(());
        }
        let Some(named) = find_names(self.document, &place.schema) else { return Ok(()) };
        let asked = |text: &str| {
            let fault = self.trial.fault(text)?;
            let fault = fault.filter(|fault| fault.problem().pointer == place.instance);
            Ok(fault.and_then(|fault| fault.asked()))
        };
        let mut theirs = match opening {
            Some(opening) => asked(&format!("{opening}true"))?,
            None => None,
        };
        if theirs.is_none() {
            theirs = asked(&with(sample, place, Value::Bool(true)).to_string())?;
        }
        let are_same = |ours: &[String], theirs: &[&str]| {
            theirs.iter().all(|name| ours.iter().any(|it| it == name))
        };
        self.exact = match (&named, theirs) {
            (SchemaNames::Fields(ours), Some(ExpectedInput::Fields(theirs))) => {
                are_same(ours, theirs)
            }
            // Not each of many choices is tried.
            (SchemaNames::Variants(ours), Some(ExpectedInput::Variants(theirs))) => {
                are_same(ours, theirs) && ours.iter().all(|it| theirs.contains(&it.as_str()))
            }
            _ => false,
        };
        Ok(())
    }
}

/// The type refuses what its schema takes.
fn narrower(sample: &Sample, fault: &Fault, is_sample: bool) -> Result<(), SchemaProblem> {
    let problem = fault.problem();
    let schema = schema_at(sample, &problem.pointer);
    let is_structural = match problem.rule {
        Rule::Type | Rule::UnknownKey | Rule::MissingKey | Rule::Choice | Rule::Null => true,
        // What serde says of types that it cannot read through its buffer.
        Rule::Other => {
            is_sample
                && (problem.expected.ends_with("128 is not supported")
                    || problem.expected == "matches none of the forms taken here")
        }
        _ => false,
    };
    if !is_structural {
        return Ok(());
    }
    let message = format!(
        "the schema takes what the type refuses ({problem}); make the attributes of schemars say what those of serde say, or choose a type that serde can read here"
    );
    Err(SchemaProblem::new(schema, message))
}

/// The text of a value with the keys of every object from the last to the first.
fn reverse(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(reverse).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(object) => {
            let entries: Vec<String> = object
                .iter()
                .rev()
                .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), reverse(value)))
                .collect();
            format!("{{{}}}", entries.join(","))
        }
        scalar => scalar.to_string(),
    }
}

/// The sample with another value at one place.
pub(super) fn with(sample: &Sample, place: &Place, value: Value) -> Value {
    let mut whole = sample.value.clone();
    if let Some(part) = whole.pointer_mut(&place.instance) {
        *part = value;
    }
    whole
}

/// The schema of the innermost part that holds `instance`.
fn schema_at<'s>(sample: &'s Sample, instance: &str) -> &'s str {
    let holds = |place: &&Place| {
        instance
            .strip_prefix(&place.instance)
            .is_some_and(|it| it.is_empty() || it.starts_with('/'))
    };
    let innermost = sample.places.iter().filter(holds).max_by_key(|place| place.instance.len());
    innermost.map_or("", |place| &place.schema)
}
